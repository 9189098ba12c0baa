package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/heirloom-ml/heirloom/cmd/internal/progress"
	"github.com/heirloom-ml/heirloom/store"
)

// transferFlags are those of all commands that move bytes.
type transferFlags struct {
	parallel int
	create   bool
}

func (f *transferFlags) register(c *cobra.Command, present string) {
	c.Flags().IntVar(&f.parallel, "parallel", 0, "`N` requests at once; 0 = what suits the store")
	c.Flags().BoolVar(&f.create, "create", false, "replace nothing: fail if "+present+" is already there")
	c.Flags().BoolP("recursive", "r", false, "directories too, which they always are")
	_ = c.Flags().MarkHidden("recursive") // typed by habit
}

// transfer is one command's movement of bytes, with what is shown of it.
type transfer struct {
	app     *app
	display *progress.Display
	options store.TransferOptions

	dest string // where a get goes to, "" of other commands

	mu   sync.Mutex // guards left
	left []string   // what is no file and stays behind
}

func (a *app) newTransfer(c *cobra.Command, f transferFlags) (*transfer, error) {
	if f.parallel < 0 {
		return nil, usagef(c.CommandPath(), "--parallel is %d, want 0 or more", f.parallel)
	}
	display, err := a.newDisplay()
	if err != nil {
		return nil, err
	}
	return &transfer{app: a, display: display, options: store.TransferOptions{
		Parallel: f.parallel, Create: f.create, JournalDir: a.journalDir(), Progress: display.Update,
	}}, nil
}

// newDisplay starts the clock of what is shown on stderr.
func (a *app) newDisplay() (*progress.Display, error) {
	mode, err := progress.ParseMode(a.flags.progress)
	if err != nil {
		return nil, err
	}
	file, _ := a.stderr.(*os.File)
	terminal := a.style(a.stderr).Terminal && a.getenv("TERM") != "dumb" && !a.flags.quiet
	return progress.New(a.stderr, mode.On(terminal), func() int {
		width, _, _ := term.GetSize(int(file.Fd())) // 0 if it cannot be told
		return width
	}), nil
}

// journalDir is where transfers note how far they came, "" if this machine has no place for it.
func (a *app) journalDir() string {
	state := a.getenv("XDG_STATE_HOME")
	switch home := a.getenv("HOME"); {
	case filepath.IsAbs(state):
	case runtime.GOOS == "windows" && a.getenv("LOCALAPPDATA") != "":
		state = a.getenv("LOCALAPPDATA")
	case home != "":
		state = filepath.Join(home, ".local", "state")
	default:
		return ""
	}
	return filepath.Join(state, "heirloom", "transfers")
}

// end closes the display and says what was moved, or how to go on after an interruption.
func (t *transfer) end(err error) (progress.Summary, error) {
	sum := t.display.Close()
	if len(t.left) > 0 {
		slices.Sort(t.left)
		t.app.warn("left out, being no files: %s", some(slices.Compact(t.left)))
	}
	if err != nil && t.dest != "" {
		t.tellParts()
	}
	var own *advised
	switch {
	case errors.Is(err, context.Canceled) && !errors.As(err, &own):
		return sum, &advised{err: err, advice: "the same command goes on from here"}
	case err == nil:
		t.app.note("%s", sum)
	}
	return sum, err
}

// partsNamed is how many files a command to remove them names.
const partsNamed = 8

// tellParts says what a get that ended early leaves, and how to be rid of it.
func (t *transfer) tellParts() {
	dir, deep := t.dest, true
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir, deep = filepath.Dir(dir), false
	}
	parts, err := store.LeftParts(dir, deep)
	if err != nil || len(parts) == 0 {
		return
	}
	remove := "rm"
	for _, part := range parts {
		remove += " " + shellWord(part)
	}
	if len(parts) > partsNamed {
		remove = fmt.Sprintf(`find %s -name '.heirloom-*.part' -delete -o -name '.heirloom-*.notes' -delete`, shellWord(dir))
	}
	t.app.warn("what has come so far stays in %s; the same command goes on from there, and this gives it up: %s", dir, remove)
}

// shellWord quotes text for a POSIX shell.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// some names a few of many.
func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// noteSpecial is the options with a look at what UploadTree will pass over below dir.
func (t *transfer) noteSpecial(dir string) *store.TransferOptions {
	options := t.options
	options.Skip = func(path string) bool {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path)))
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.left = append(t.left, path)
		}
		return false
	}
	return &options
}

// moved is what put and get print as JSON.
type moved struct {
	Files   int           `json:"files"`
	Bytes   int64         `json:"bytes"`
	Resumed int64         `json:"resumed"`
	Seconds float64       `json:"seconds"`
	Objects []movedObject `json:"objects"`
}

type movedObject struct {
	Path string `json:"path"`
	URL  string `json:"url"`
	File string `json:"file"`
	Size int64  `json:"size"`
}

// object tells of one that lies, or lay, in a local file.
func (s spot) moved(o store.Object, file string) movedObject {
	return movedObject{Path: s.path(o.Key), URL: s.store.KeyURL(o.Key), File: file, Size: o.Size}
}

// tree tells of all objects of a directory.
func (s spot) movedTree(objects []store.Object, dir string) []movedObject {
	list := make([]movedObject, len(objects))
	for i, o := range objects {
		list[i] = s.moved(o, filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(string(o.Key), s.below()))))
	}
	return list
}

func (t *transfer) print(sum progress.Summary, objects []movedObject) error {
	if !t.app.wantsJSON() {
		return nil
	}
	if objects == nil {
		objects = []movedObject{}
	}
	return t.app.printJSON(moved{Files: sum.Files, Bytes: sum.Bytes, Resumed: sum.Resumed, Seconds: sum.Took.Seconds(), Objects: objects})
}
