package hdfsblob

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// complete asks the NameNode to close a file of size bytes whose blocks are all written; false where it has not heard of
// enough replicas yet. The library names the last block in its first request only, which the NameNode passes over while
// it waits for the block before the last, and so it would wait for ever.
func (c *client) complete(path string, size int64) (bool, error) {
	last, err := c.lastBlock(path, size)
	if err != nil {
		return false, err
	}
	name := reflect.ValueOf(c.caller).Elem().FieldByName("ClientName")
	if name.Kind() != reflect.String {
		return false, fmt.Errorf("this release of the HDFS client is not known: %w", errors.ErrUnsupported)
	}
	request := fields{"src": path, "clientName": name.String()}
	if last != nil {
		request["last"] = last
	}
	response, err := c.call("complete", "Complete", request)
	if err != nil {
		return false, err
	}
	return member(response, "result").Bool(), nil
}

// lastBlock is the last block of a file of size bytes, nil if it has none.
func (c *client) lastBlock(path string, size int64) (protoreflect.Message, error) {
	response, err := c.call("getBlockLocations", "GetBlockLocations", fields{"src": path, "offset": uint64(0), "length": uint64(math.MaxInt64)})
	if err != nil {
		return nil, err
	}
	located := member(member(response, "locations").Message(), "lastBlock").Message()
	if !located.IsValid() {
		return nil, nil
	}
	block := member(located, "b").Message()
	block.Set(block.Descriptor().Fields().ByName("numBytes"), protoreflect.ValueOfUint64(uint64(size)-member(located, "offset").Uint()))
	return block, nil
}

func member(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}
