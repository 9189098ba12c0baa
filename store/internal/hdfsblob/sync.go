package hdfsblob

import (
	"bytes"
	"encoding/binary"

	"github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The last packet of a block may ask every DataNode of the pipeline to have the block, and its directory, on disk
// before it acknowledges; Hadoop's own client does that for files made with SYNC_BLOCK. The library has no such option,
// but writes each packet at once, and so the wish is put into the packet here, on its way. That cannot be done where the
// library encrypts what it writes.

// prefixes of what is written to a DataNode (data transfer protocol, version 28).
const (
	writeBlock   = "\x00\x1c\x50" // the request after which packets follow
	packetPrefix = 6              // bytes before a packet's header: length of the payload and of the header
	emptyPayload = 4              // length of the payload without data and checksums, which counts itself
)

// synced gives p as it is to be sent on a connection that syncs.
func (c *conn) synced(p []byte) []byte {
	if !c.writing {
		c.writing = bytes.HasPrefix(p, []byte(writeBlock))
		return p
	}
	return syncLast(p)
}

// syncLast adds the wish to the last packet of a block, which carries no data, and gives anything else back as it is.
func syncLast(p []byte) []byte {
	if len(p) < packetPrefix || binary.BigEndian.Uint32(p) != emptyPayload || int(binary.BigEndian.Uint16(p[4:])) != len(p)-packetPrefix {
		return p
	}
	header, err := newMessage("PacketHeaderProto")
	if err != nil || proto.Unmarshal(p[packetPrefix:], header.Interface()) != nil {
		return p
	}
	known := header.Descriptor().Fields()
	if !header.Get(known.ByName("lastPacketInBlock")).Bool() {
		return p // keeps the connection alive
	}
	header.Set(known.ByName("syncBlock"), protoreflect.ValueOfBool(true))
	data, err := proto.Marshal(header.Interface())
	if err != nil {
		return p
	}
	out := binary.BigEndian.AppendUint32(nil, emptyPayload)
	out = binary.BigEndian.AppendUint16(out, uint16(len(data)))
	return append(out, data...)
}

// syncs reports whether the connections to DataNodes are plain, so that writes can be synced.
func (b *Bucket) syncs() bool {
	switch hdfs.ClientOptionsFromConf(b.conf.library()).DataTransferProtection {
	case "", hdfs.DataTransferProtectionAuthentication:
	default:
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.defaults == nil || !b.defaults.encrypted
}
