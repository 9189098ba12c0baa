package hdfsblob

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// The library's exported Rename always replaces, and it exports neither concat nor delete alone. The NameNode has
// what is needed, and the library holds an authenticated connection to it with an exported method for any request;
// only the field that leads there is not exported. callerOf takes it from there, which spares a second
// implementation of RPC, SASL, Kerberos and failover, and refuses if the field is not what it was in v2.4.0. The
// messages come from protobuf's registry, where the library's own package has put them.

// caller makes one request of the NameNode's ClientProtocol.
type caller interface {
	Execute(method string, request, response proto.Message) error
}

func callerOf(c *hdfs.Client) (caller, error) {
	field := reflect.ValueOf(c).Elem().FieldByName("namenode")
	if !field.IsValid() || field.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("this release of the HDFS client is not known: %w", errors.ErrUnsupported)
	}
	found, ok := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(caller)
	if !ok {
		return nil, fmt.Errorf("this release of the HDFS client is not known: %w", errors.ErrUnsupported)
	}
	return found, nil
}

// fields are the values of a request; a []string is a repeated field.
type fields map[protoreflect.Name]any

// call executes a method whose messages are named after it.
func (c *client) call(method, message string, values fields) (protoreflect.Message, error) {
	request, err := newMessage(message + "RequestProto")
	if err != nil {
		return nil, err
	}
	for name, value := range values {
		field := request.Descriptor().Fields().ByName(name)
		if field == nil {
			return nil, fmt.Errorf("message %s has no field %s: %w", message, name, errors.ErrUnsupported)
		}
		if list, ok := value.([]string); ok {
			for _, s := range list {
				request.Mutable(field).List().Append(protoreflect.ValueOfString(s))
			}
			continue
		}
		request.Set(field, protoreflect.ValueOf(value))
	}
	response, err := newMessage(message + "ResponseProto")
	if err != nil {
		return nil, err
	}
	return response, c.caller.Execute(method, request.Interface(), response.Interface())
}

func newMessage(name string) (protoreflect.Message, error) {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("hadoop.hdfs." + name))
	if err != nil {
		return nil, fmt.Errorf("message %s: %w: %w", name, errors.ErrUnsupported, err)
	}
	return kind.New(), nil
}

// rename gives src the name dst in one step of the NameNode. Unless replace, it fails with FileAlreadyExistsException where dst
// exists, and changes nothing; the NameNode tests and renames under one lock.
func (c *client) rename(src, dst string, replace bool) error {
	_, err := c.call("rename2", "Rename2", fields{"src": src, "dst": dst, "overwriteDest": replace})
	return err
}

// concat moves the blocks of parts, in their order, to the end of first and removes parts, in one step of the
// NameNode. All are closed files that are not empty, in one directory.
func (c *client) concat(first string, parts []string) error {
	_, err := c.call("concat", "Concat", fields{"trg": first, "srcs": parts})
	return err
}

// remove deletes a file or an empty directory; false if there is none.
func (c *client) remove(path string) (bool, error) { return c.delete(path, false) }

// removeAll deletes a directory with all that is in it; false if there is none.
func (c *client) removeAll(dir string) (bool, error) { return c.delete(dir, true) }

func (c *client) delete(path string, recursive bool) (bool, error) {
	response, err := c.call("delete", "Delete", fields{"src": path, "recursive": recursive})
	if err != nil {
		return false, err
	}
	return response.Get(response.Descriptor().Fields().ByName("result")).Bool(), nil
}

// list hands over the names in a directory that come after another, in the NameNode's order, until hand returns false.
// There are none in what is no directory, or not there.
func (c *client) list(dir, start string, hand func(status *hdfs.FileStatus) bool) error {
	after := []byte(start)
	for {
		response, err := c.call("getListing", "GetListing", fields{"src": dir, "startAfter": after, "needLocation": false})
		if err != nil {
			if isAbsent(absent(err)) {
				return nil
			}
			return err
		}
		known := response.Descriptor().Fields()
		if !response.Has(known.ByName("dirList")) {
			return nil
		}
		page := response.Get(known.ByName("dirList")).Message()
		known = page.Descriptor().Fields()
		names := page.Get(known.ByName("partialListing")).List()
		for i := range names.Len() {
			status, ok := names.Get(i).Message().Interface().(*hdfs.FileStatus)
			if !ok {
				return fmt.Errorf("a listing of another type: %w", errors.ErrUnsupported)
			}
			if len(status.GetPath()) == 0 {
				return nil // a file is listed as itself, without a name
			}
			if !hand(status) {
				return nil
			}
			after = status.GetPath()
		}
		if names.Len() == 0 || page.Get(known.ByName("remainingEntries")).Uint() == 0 {
			return nil
		}
	}
}
