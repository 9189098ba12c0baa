package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	scanAtOnce = 8
	maxTold    = 5 // names in one error
)

// Options adjust Scan. Nil and the zero value are the defaults.
type Options struct {
	// Exclude are local directories that are left out wherever they lie in the
	// tree, such as the store itself. Absolute paths.
	Exclude []string

	all bool // ignore files hold nothing back
}

// Scan reads the directory: all it holds but .git, what ignore files leave out,
// and opts.Exclude. A link is kept as it is and never followed, save that dir
// itself may be one.
//
// The rules are those of gitignore, in .heirloomignore, else .torchxignore, else
// .gitignore: whichever of the three lies in the root is read there and in every
// directory below. Rules of .gitignore files above the root, up to that of the git
// work tree, hold too. What git tracks in spite of the rules is left out.
//
// Sockets, pipes and devices, and names that are not UTF-8, are store.ErrInvalid,
// naming them; a file that changes while it is read is store.ErrConflict; a
// missing directory is store.ErrNotExist.
func Scan(ctx context.Context, dir string, opts *Options) (*Tree, error) {
	t, err := scan(ctx, dir, opts)
	if err != nil {
		return nil, fmt.Errorf("capture workspace %s: %w", dir, err)
	}
	return t, nil
}

func scan(ctx context.Context, dir string, opts *Options) (*Tree, error) {
	if opts == nil {
		opts = &Options{}
	}
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	s := &scanner{root: root}
	if !opts.all {
		s.ignoreName = ignoreNameOf(root)
	}
	if err := s.exclude(opts.Exclude); err != nil {
		return nil, err
	}
	above, err := aboveRoot(root, s.ignoreName)
	if err != nil {
		return nil, err
	}
	if err := s.dir(ctx, "", above); err != nil {
		return nil, err
	}
	if err := s.refusal(); err != nil {
		return nil, err
	}
	if err := s.hash(ctx); err != nil {
		return nil, err
	}
	return s.tree()
}

// scanner collects the entries of one tree.
type scanner struct {
	root       string
	ignoreName string // "" = there are no ignore files
	excluded   map[string]bool
	entries    []found
	refused    []string // what no tree can hold
}

// found is an entry and what it was when it was found.
type found struct {
	Entry
	info fs.FileInfo
}

// exclude notes what is left out. The root itself cannot be.
func (s *scanner) exclude(dirs []string) error {
	s.excluded = map[string]bool{}
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if dir == s.root {
			return fmt.Errorf("it is the store itself; keep the store in a directory of its own: %w", store.ErrInvalid)
		}
		s.excluded[dir] = true
	}
	return nil
}

// dir collects what a directory holds; up are the rules that hold in it already.
func (s *scanner) dir(ctx context.Context, path string, up *level) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	full := filepath.Join(s.root, filepath.FromSlash(path))
	list, err := os.ReadDir(full)
	if err != nil {
		return err
	}
	here := &level{up: up, path: path}
	if here.rules, err = readRules(full, s.ignoreName); err != nil {
		return err
	}
	for _, entry := range list {
		name := entry.Name()
		if name == ".git" || here.ignores(name, entry.IsDir()) || s.excluded[filepath.Join(full, name)] {
			continue
		}
		if err := s.entry(ctx, path, entry, here); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) entry(ctx context.Context, dir string, entry fs.DirEntry, here *level) error {
	path := entry.Name()
	if dir != "" {
		path = dir + "/" + path
	}
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		err = changed(path, "was removed")
	}
	if err != nil {
		return err
	}
	e := Entry{Path: path, Mode: info.Mode().Perm()}
	switch kind := info.Mode().Type(); {
	case !utf8.ValidString(path):
		s.refused = append(s.refused, fmt.Sprintf("%q (its name is not UTF-8)", path))
		return nil
	case kind.IsDir():
		e.Kind = Dir
	case kind.IsRegular():
		e.Kind, e.Size = File, info.Size()
	case kind&fs.ModeSymlink != 0:
		e.Kind, e.Mode = Link, 0
		if e.Target, err = os.Readlink(filepath.Join(s.root, filepath.FromSlash(path))); err != nil {
			return err
		}
		if !utf8.ValidString(e.Target) {
			s.refused = append(s.refused, fmt.Sprintf("%q (the target of the link is not UTF-8)", path))
			return nil
		}
	default:
		s.refused = append(s.refused, fmt.Sprintf("%q (%s)", path, kindName(kind)))
		return nil
	}
	s.entries = append(s.entries, found{e, info})
	if len(s.entries) > maxEntries {
		return fmt.Errorf("it holds more than %d files: name what is not needed in .heirloomignore: %w", maxEntries, store.ErrInvalid)
	}
	if e.Kind == Dir {
		return s.dir(ctx, path, here)
	}
	return nil
}

func kindName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "neither a file, a directory nor a link"
}

// refusal names what cannot be kept.
func (s *scanner) refusal() error {
	n := len(s.refused)
	if n == 0 {
		return nil
	}
	told := strings.Join(s.refused[:min(n, maxTold)], ", ")
	if n > maxTold {
		told += fmt.Sprintf(" and %d more", n-maxTold)
	}
	return fmt.Errorf("it cannot hold %s: remove it, or name it in .heirloomignore: %w", told, store.ErrInvalid)
}

// hash reads all files, several at once.
func (s *scanner) hash(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(scanAtOnce)
	for i := range s.entries {
		e := &s.entries[i]
		if e.Kind != File {
			continue
		}
		group.Go(func() (err error) {
			e.SHA256, err = hashFile(ctx, filepath.Join(s.root, filepath.FromSlash(e.Path)), *e)
			return err
		})
	}
	return group.Wait()
}

func (s *scanner) tree() (*Tree, error) {
	slices.SortFunc(s.entries, func(a, b found) int { return cmp.Compare(a.Path, b.Path) })
	t := &Tree{root: s.root, Entries: make([]Entry, 0, len(s.entries))}
	check := newChecker()
	for _, e := range s.entries {
		if err := check.entry(e.Entry); err != nil {
			return nil, fmt.Errorf("%w: %w", err, store.ErrInvalid)
		}
		t.add(e.Entry)
	}
	return t, t.encode()
}
