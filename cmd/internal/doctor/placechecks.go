package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// Disk is the file system below a directory.
type Disk struct {
	Kind string // "ext4", "nfs", "fuse"; "" if it cannot be told
	Free uint64 // bytes for this user
}

// wantFree is below how many bytes of free space a warning is due.
const wantFree = 1 << 30

// capabilities says in words what the store promises beyond the contract, and what follows where it does not.
func (e *examination) capabilities(context.Context) Finding {
	c := e.Store.Capabilities()
	var has, lacks, advice []string
	for _, one := range []struct {
		there  bool
		name   string
		advice string // of what everything rests on; "" where nothing is lost without
	}{
		{c.AtomicCreate, "exclusive creation", "let one process at a time write here"},
		{c.AtomicPut, "replacing in one step", "expect readers to find an object missing for a moment while it is replaced"},
		{c.Durable || e.Store.Scheme() == "mem", "durable writes", "use it for what can be made again after a loss of power"},
		{!c.CoarseVersion, "a version for every write", "replace an object at most once a second"},
		{c.Replace, "replacing by comparison", ""},
		{c.Append, "appending", ""},
		{c.Resume, "uploads that go on where they broke off", ""},
		{c.ServerChecksum, "checksums that the server checks", ""},
	} {
		switch {
		case one.there:
			has = append(has, one.name)
			continue
		case one.advice != "":
			advice = append(advice, one.advice)
		}
		lacks = append(lacks, one.name)
	}
	text := strings.Join(has, ", ")
	if len(lacks) > 0 {
		text = strings.TrimPrefix(text+"; without "+strings.Join(lacks, ", "), "; ")
	}
	if len(advice) > 0 {
		return warning(text, strings.Join(advice, "; ")+"; or use another place")
	}
	return ok(text)
}

// fileSystem says where a local store lies, if that weakens its promises.
func (e *examination) fileSystem(context.Context) Finding {
	dir, isLocal := e.Store.LocalPath("")
	if !isLocal {
		return skipped("the store is not on a local disk")
	}
	disk, err := e.Disk(existing(dir))
	if err != nil {
		return skipped("it cannot be told here: " + err.Error())
	}
	switch {
	case disk.Free < wantFree:
		return warning(fmt.Sprintf("only %d MiB are free at %s", disk.Free>>20, dir), "free some space before the next run")
	case disk.Kind == "tmpfs" || disk.Kind == "ramfs":
		return warning(dir+" is in memory ("+disk.Kind+") and gone at the next start", "put the store on a disk")
	case disk.Kind == "nfs" || disk.Kind == "cifs" || disk.Kind == "smb":
		return warning(dir+" is on a network file system ("+disk.Kind+"), which shows changes of other machines late",
			"mount it with actimeo=0 or noac, or use an object store where many machines write")
	case disk.Kind == "fuse":
		return warning(dir+" is on a FUSE file system, whose promises are those of its driver", "run heirloom store check on it once")
	}
	return ok(fmt.Sprintf("%s, %d GiB free", kindOr(disk.Kind), disk.Free>>30))
}

func kindOr(kind string) string {
	if kind == "" {
		return "a file system of unknown kind"
	}
	return kind
}

// trackerFormat says whether this heirloom understands the root.
func (e *examination) trackerFormat(ctx context.Context) Finding {
	f, err := e.Format(ctx)
	switch {
	case errors.Is(err, store.ErrUnsupported):
		return failed(store.ErrUnsupported, cause(err), "")
	case errors.Is(err, store.ErrCorrupt):
		return failed(store.ErrCorrupt, "heirloom.json in the tracker's root cannot be understood: "+cause(err), "restore it, or move it away: without it a root is read as format 1")
	case err != nil:
		return explain("read the tracker's root", err)
	case f.Version == 0:
		return ok("no heirloom.json: a root that is new, or that TorchX made")
	case f.Shared:
		return ok(fmt.Sprintf("format %d, shared", f.Version))
	}
	return ok(fmt.Sprintf("format %d", f.Version))
}

// directories looks whether heirloom and its jobs can write on this machine, and how much.
func (e *examination) directories(context.Context) Finding {
	var names []string
	for _, d := range e.Dirs {
		names = append(names, d.Use+" "+d.Path)
		if err := writable(d.Path); err != nil {
			return failed(kindOf(&store.Error{Kind: kindOfPath(err), Err: err}), fmt.Sprintf("the %s directory cannot be written: %v", d.Use, err),
				"make it writable, or name another in "+variable(d.Use))
		}
		if disk, err := e.Disk(existing(d.Path)); err == nil && disk.Free < wantFree {
			return warning(fmt.Sprintf("only %d MiB are free in the %s directory %s", disk.Free>>20, d.Use, d.Path), "free some space, or name another in "+variable(d.Use))
		}
	}
	return ok(strings.Join(names, ", "))
}

func variable(use string) string {
	switch use {
	case "cache":
		return "XDG_CACHE_HOME"
	case "state":
		return "XDG_STATE_HOME"
	}
	return "TMPDIR"
}

func kindOfPath(err error) error {
	for _, kind := range []error{store.ErrPermission, store.ErrNotExist} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return store.ErrInvalid
}

// writable makes and removes a file in dir, or in what there is above it.
func writable(dir string) error {
	f, err := os.CreateTemp(existing(dir), ".heirloom-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// tools tells which programs are there that heirloom works better with.
func (e *examination) tools(context.Context) Finding {
	var found, missing []string
	for _, name := range []string{"git", "python3", "torchx"} {
		if path, err := e.LookPath(name); err == nil {
			found = append(found, fmt.Sprintf("%s (%s)", name, filepath.Dir(path)))
		} else {
			missing = append(missing, name)
		}
	}
	text := "found " + strings.Join(found, ", ")
	if len(found) == 0 {
		text = "none found"
	}
	if len(missing) > 0 {
		text += "; not found, and not needed: " + strings.Join(missing, ", ")
	}
	return ok(text)
}
