package tracker_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// The packages of Python, of one time. TorchX 0.7 is the last that was released.
const (
	torchxPin = "torchx==0.7.0"
	fsspecPin = "fsspec==2026.9.0"
	s3fsPin   = "s3fs==2026.9.0"
	gcsfsPin  = "gcsfs==2026.10.0"
)

// TestDifferential drives random sequences of calls through TorchX and heirloom
// and compares all that either sees: in a root of TorchX's, in one of heirloom's
// and in one that both write to. What is excepted stands in torchxDefects. A
// sequence is replayed by the name of its test, which is its seed.
func TestDifferential(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		p := pair{python: serve(t, "file", object(), torchxPin, fsspecPin), top: fastDir(t), unsorted: true}
		p.compare(t, storetest.Rounds(10000))
	})
	t.Run("s3fs", func(t *testing.T) { onS3(t, servers.VersityGW(t)).compare(t, storetest.Rounds(200)) })
	t.Run("gcsfs", func(t *testing.T) { onGCS(t, servers.FakeGCS(t)).compare(t, storetest.Rounds(200)) })
}

func onS3(t *testing.T, server servers.S3) pair {
	p := pair{protocol: "s3", python: serve(t, "s3", fsspecOptions(t, server.URL("")), torchxPin, fsspecPin, s3fsPin)}
	p.top, p.query, _ = strings.Cut(server.URL("differential"), "?")
	p.query = strings.TrimSuffix("?"+p.query, "?")
	return p
}

// onGCS tells gcsfs not to ask what kind of bucket it is, which it does by gRPC
// and the emulator does not know.
func onGCS(t *testing.T, server servers.GCS) pair {
	t.Setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
	query := "?anonymous=true&endpoint=" + url.QueryEscape(server.Endpoint)
	options := fsspecOptions(t, server.URL("")+query)
	return pair{protocol: "gs", python: serve(t, "gs", options, torchxPin, fsspecPin, gcsfsPin), top: server.URL("differential"), query: query}
}

// fsspecOptions are what heirloom tells TorchX about a store, beside protocol
// and path.
func fsspecOptions(t testing.TB, place string) *pyjson.Object {
	t.Helper()
	s, err := store.Open(t.Context(), place, &store.Options{Environ: os.Environ()})
	check(t, err)
	o := object()
	for _, setting := range s.FsspecConfig()[2:] {
		switch below, key, nested := strings.Cut(setting.Key, "."); {
		case !nested:
			o.Set(setting.Key, setting.Value)
		case member(o, below) == nil:
			o.Set(below, object(key, setting.Value))
		default:
			member(o, below).(*pyjson.Object).Set(key, setting.Value)
		}
	}
	check(t, s.Close())
	return o
}

// fastDir is a directory in memory where the system has one, since nothing here
// is about what survives a crash.
func fastDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "heirloom-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	return dir
}

// pair is TorchX and heirloom below one place.
type pair struct {
	protocol string // of fsspec, "" for files
	python   *torchx
	top      string // URL of the place, without a query
	query    string // what heirloom's URLs need behind it
	unsorted bool   // listings come in no order
}

// torchx is a process that runs TorchX's tracker.
type torchx struct {
	in  io.Writer
	out *bufio.Reader
}

func serve(t *testing.T, protocol string, options *pyjson.Object, requirements ...string) *torchx {
	t.Helper()
	args := []string{filepath.Join("testdata", "torchx_serve.py"), protocol, dump(t, options)}
	cmd := exec.CommandContext(t.Context(), servers.Python(t, requirements...), args...)
	// To boto an empty AWS_PROFILE is the name of one.
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasSuffix(v, "=") })
	cmd.Env = append(environ, "HOME="+t.TempDir(), "LOGLEVEL=ERROR", "PYTHONUTF8=1", "PYTHONWARNINGS=ignore")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		check(t, in.Close())
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return &torchx{in, bufio.NewReader(out)}
}

func (x *torchx) ask(t *testing.T, request ...any) []byte {
	t.Helper()
	line := x.exchange(t, request)
	if bytes.HasPrefix(line, []byte(`{"error": `)) {
		t.Fatalf("TorchX, asked %s: %s", dump(t, request), line)
	}
	return line
}

// fails gives the exception of a request, "" if there is none.
func (x *torchx) fails(t *testing.T, request ...any) string {
	t.Helper()
	o, err := pyjson.UnmarshalObject(x.exchange(t, request))
	if err != nil {
		return ""
	}
	return o.Text("error")
}

func (x *torchx) exchange(t *testing.T, request []any) []byte {
	t.Helper()
	_, err := io.WriteString(x.in, dump(t, request)+"\n")
	check(t, err)
	line, err := x.out.ReadBytes('\n')
	check(t, err)
	return line
}

func (x *torchx) view(t *testing.T, r root) view {
	t.Helper()
	x.ask(t, "open", r.path)
	o, err := pyjson.UnmarshalObject(x.ask(t, "view", anyTexts(runPool()), anyTexts(namePool()[:2])))
	check(t, err)
	v := view{}
	v.add("run ids", dump(t, member(o, "run_ids")))
	for id, run := range member(o, "runs").(*pyjson.Object).All() {
		run := run.(*pyjson.Object)
		for key, value := range member(run, "metadata").(*pyjson.Object).All() {
			v.add(id+" metadata "+key, dump(t, value))
		}
		for name, a := range member(run, "artifacts").(*pyjson.Object).All() {
			v.add(id+" artifact "+name, dump(t, a))
		}
		v.addLinks(id+" sources", member(run, "sources").([]any))
		for name, list := range member(run, "named").(*pyjson.Object).All() {
			v.addLinks(id+" sources named "+name, list.([]any))
		}
		v.add(id+" children", dump(t, member(run, "children")))
	}
	return v
}

// view is what one side sees: texts by what they are about.
type view map[string][]string

func (v view) add(what, text string) { v[what] = append(v[what], text) }

func (v view) addLinks(what string, list []any) {
	for _, link := range list {
		l := link.([]any)
		v.add(what, l[0].(string)+"#"+l[1].(string))
	}
	slices.Sort(v[what])
}

// root is one of the three that a sequence is played in.
type root struct {
	path  string // as TorchX takes it
	tr    *tracker.FileTracker
	facts *truth
}

func (p pair) open(t *testing.T, name string) root {
	s := openStore(t, p.top+"/"+name+p.query, nil)
	t.Cleanup(func() {
		if dir, local := s.LocalPath(""); local && !t.Failed() { // 10,000 of them are millions of files
			check(t, os.RemoveAll(dir))
		}
	})
	tr := tracker.NewFileTracker(s, nil)
	check(t, tr.Init(t.Context(), tracker.InitOptions{}))
	return root{p.top + "/" + name, tr, newTruth()}
}

// compare plays n sequences.
func (p pair) compare(t *testing.T, n int) {
	for seed := range n {
		ok := t.Run(strconv.Itoa(seed), func(t *testing.T) {
			g := newGenerator(uint64(seed))
			theirs, ours, shared := p.open(t, fmt.Sprint(seed, "-t")), p.open(t, fmt.Sprint(seed, "-h")), p.open(t, fmt.Sprint(seed, "-s"))
			for range 1 + g.IntN(12) {
				c := g.call()
				p.byTorchX(t, theirs, c)
				byHeirloom(t, ours, c)
				if g.IntN(2) == 0 {
					p.byTorchX(t, shared, c)
				} else {
					byHeirloom(t, shared, c)
				}
			}
			for name, r := range map[string]root{"TorchX's": theirs, "heirloom's": ours, "shared": shared} {
				sameFacts(t, "heirloom in the "+name+" root", heirloomView(t, r.tr), r.facts.view(t), nil)
				sameFacts(t, "TorchX in the "+name+" root", p.python.view(t, r), r.facts.torchx(t), p.anyOf(t, r.facts))
			}
		})
		if !ok {
			return // the first is the one to look into
		}
	}
}

func (p pair) byTorchX(t *testing.T, r root, c []any) {
	p.python.ask(t, "open", r.path)
	p.python.ask(t, c...)
	r.facts.record(t, c, true)
}

func byHeirloom(t *testing.T, r root, c []any) {
	record(t, r.tr, []any{c})
	r.facts.record(t, c, false)
}

// anyOf holds what TorchX may show for keys and names that were given more than
// once, where nothing sorts its records, the defect "order of listing".
func (p pair) anyOf(t *testing.T, f *truth) view {
	if !p.unsorted {
		return nil
	}
	return f.given
}

// heirloomView asks for each part as TorchX is asked.
func heirloomView(t *testing.T, tr *tracker.FileTracker) view {
	t.Helper()
	v := view{}
	v.add("run ids", dump(t, anyTexts(ids(t, tr, ""))))
	for _, id := range runPool() {
		run := tracker.RunID(id)
		m, err := tr.Metadata(t.Context(), run)
		check(t, err)
		for key, value := range m.All() {
			v.add(id+" metadata "+key, dump(t, value))
		}
		artifacts, err := tr.Artifacts(t.Context(), run)
		check(t, err)
		for _, a := range artifacts {
			var meta any
			if a.Metadata != nil {
				meta = a.Metadata
			}
			v.add(id+" artifact "+a.Name, dump(t, []any{a.Path, meta}))
		}
		for _, name := range append(namePool()[:2], "") {
			list, err := tr.Sources(t.Context(), run, name)
			check(t, err)
			what := id + " sources"
			if name != "" {
				what += " named " + name
			}
			for _, s := range list {
				v.add(what, string(s.ID)+"#"+s.Artifact)
			}
			slices.Sort(v[what])
		}
		v.add(id+" children", dump(t, anyTexts(ids(t, tr, run))))
	}
	maps.DeleteFunc(v, func(_ string, texts []string) bool { return len(texts) == 0 })
	return v
}

func sameFacts(t *testing.T, who string, got, want, anyOf view) {
	t.Helper()
	for what, texts := range want {
		if len(got[what]) == 1 && slices.Contains(anyOf[what], got[what][0]) {
			continue
		}
		if !slices.Equal(got[what], texts) {
			t.Errorf("%s: %s:\ngot  %q\nwant %q", who, what, got[what], texts)
		}
	}
	for what, texts := range got {
		if want[what] == nil {
			t.Errorf("%s: %s: unexpected %q", who, what, texts)
		}
	}
}

func anyTexts(list []string) []any {
	out := []any{}
	for _, text := range list {
		out = append(out, text)
	}
	return out
}
