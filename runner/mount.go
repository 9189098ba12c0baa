package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// MountType says what is mounted.
type MountType string

// The types of mount.
const (
	MountBind   MountType = "bind"   // a path of the host
	MountVolume MountType = "volume" // a named volume
	MountDevice MountType = "device" // a device of the host
)

// DefaultPermissions are those of a device: read, write, mknod.
const DefaultPermissions = "rwm"

// Mount is something of the host that a replica sees at Dst.
type Mount struct {
	Type        MountType `json:"type"`
	Src         string    `json:"src"`
	Dst         string    `json:"dst"`                   // of a device ParseMounts takes Src where it is not given
	ReadOnly    bool      `json:"read_only,omitempty"`   // not of a device
	Permissions string    `json:"permissions,omitempty"` // of a device: some of "rwm", "" = DefaultPermissions
}

// mountKeys are the keys of ParseMounts and their other names.
func mountKey(key string) string {
	switch key {
	case "destination", "target":
		return "dst"
	case "source":
		return "src"
	case "read_only":
		return "readonly"
	case "permissions":
		return "perm"
	}
	return key
}

// ParseMounts reads mounts as TorchX's components take them, each begun by its
// type:
//
//	type=bind,src=/host,dst=/job[,readonly]
//	type=volume,src=name,dst=/job[,readonly]
//	type=device,src=/dev/x[,dst=/dev/y][,perm=rwm]
//
// Also destination and target for dst, source for src, read_only for readonly,
// permissions for perm. The words may be in one argument, joined by commas, or in several.
// The error has kind store.ErrInvalid.
func ParseMounts(args []string) ([]Mount, error) {
	var mounts []Mount
	seen := map[string]bool{}
	for _, word := range mountWords(args) {
		key, value, hasValue := strings.Cut(word, "=")
		key = mountKey(key)
		if key == "type" {
			mounts = append(mounts, Mount{Type: MountType(value)})
			seen = map[string]bool{}
			continue
		}
		if len(mounts) == 0 {
			return nil, mountError(word, "a mount begins with type=bind, type=volume or type=device")
		}
		if seen[key] {
			return nil, mountError(word, "it is given twice")
		}
		seen[key] = true
		if err := mounts[len(mounts)-1].set(key, value, hasValue); err != nil {
			return nil, mountError(word, err.Error())
		}
	}
	for i := range mounts {
		if mounts[i].Type == MountDevice && mounts[i].Dst == "" {
			mounts[i].Dst = mounts[i].Src
		}
		if err := mounts[i].check(); err != nil {
			return nil, err
		}
	}
	return mounts, nil
}

func mountWords(args []string) []string {
	var words []string
	for _, arg := range args {
		words = append(words, strings.Split(arg, ",")...)
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

func mountError(word, why string) error {
	return &store.Error{Op: "read mount", Key: word, Kind: store.ErrInvalid, Err: fmt.Errorf("%s", why)}
}

func (m *Mount) set(key, value string, hasValue bool) error {
	switch key {
	case "src":
		m.Src = value
	case "dst":
		m.Dst = value
	case "perm":
		m.Permissions = value
	case "readonly":
		switch {
		case !hasValue || value == "true":
			m.ReadOnly = true
		case value != "false":
			return fmt.Errorf("readonly is true or false, not %q", value)
		}
		return nil
	default:
		return fmt.Errorf("no such key; known: type, src, dst, readonly, perm")
	}
	if value == "" {
		return fmt.Errorf("it has no value")
	}
	return nil
}

func (m Mount) check() error {
	word := "type=" + string(m.Type)
	switch m.Type {
	case MountBind, MountVolume, MountDevice:
	default:
		return mountError(word, "a mount is bind, volume or device")
	}
	switch {
	case m.Src == "":
		return mountError(word, "it has no src")
	case m.Dst == "":
		return mountError(word, "it has no dst")
	case m.Type == MountDevice && m.ReadOnly:
		return mountError(word, "a device has perm=r, not readonly")
	case m.Type != MountDevice && m.Permissions != "":
		return mountError(word, "only a device has perm")
	case strings.Trim(m.Permissions, DefaultPermissions) != "":
		return mountError("perm="+m.Permissions, "it is made of r, w and m")
	}
	return nil
}
