package hdfsblob

import (
	"errors"
	"io/fs"
	"path"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// What may be done to a file or directory, as the NameNode numbers it.
const (
	toWrite protoreflect.EnumNumber = 2
	toRead  protoreflect.EnumNumber = 4
)

// denied asks the NameNode once more who may not do what, since the library keeps of its refusal nothing but the kind. Of a
// path that is not there yet the nearest directory above it is meant.
func (c *client) denied(err error, place string, access protoreflect.EnumNumber) error {
	if _, told := errors.AsType[exception](err); told || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for {
		_, refused := c.call("checkAccess", "CheckAccess", fields{"path": place, "mode": access})
		switch {
		case errors.Is(kindOf(refused), fs.ErrPermission):
			return refused
		case !isAbsent(refused) || place == "/":
			return err
		}
		place = path.Dir(place)
	}
}
