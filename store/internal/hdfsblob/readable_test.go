package hdfsblob

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// described is a file of which the NameNode says no more than status.
type described struct {
	fs.FileInfo
	status *hdfs.FileStatus
}

func (d described) Sys() any { return d.status }

// TestReadable sees refused, with the way out, what the library would hand out as stripes or ciphertext.
func TestReadable(t *testing.T) {
	for _, c := range []struct {
		field, want string
	}{
		{"", ""},
		{"fileEncryptionInfo", "encryption zone of HDFS, whose keys only the key server (KMS) has that heirloom does not speak to; use a directory outside of the zone"},
		{"ecPolicy", "hdfs ec -setPolicy -replicate"},
	} {
		status := &hdfs.FileStatus{}
		m := status.ProtoReflect()
		if c.field != "" {
			field := m.Descriptor().Fields().ByTextName(c.field)
			inner := m.Mutable(field).Message()
			if id := inner.Descriptor().Fields().ByTextName("id"); id != nil {
				inner.Set(id, protoreflect.ValueOfUint32(1))
			}
		}
		err := readable(described{status: status})
		if c.want == "" {
			if err != nil {
				t.Errorf("a plain file: %v", err)
			}
			continue
		}
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ErrUnsupported that says %s", c.field, err, c.want)
		}
	}
}
