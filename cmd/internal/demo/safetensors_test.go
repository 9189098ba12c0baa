package demo

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

func model(t testing.TB) (*network, []byte) {
	t.Helper()
	n := newNetwork(3)
	n.randomize(rand.New(rand.NewPCG(1, 1)))
	body, err := encodeModel(n, notes(n, 4, score{accuracy: 0.975}))
	if err != nil {
		t.Fatal(err)
	}
	return n, body
}

// TestSafetensorsLayout reads a model by the letter of the format: no gaps, no
// overlap, names sorted as they come, a header aligned to eight bytes.
func TestSafetensorsLayout(t *testing.T) {
	n, body := model(t)
	size := int(binary.LittleEndian.Uint64(body))
	if size%8 != 0 || body[8] != '{' {
		t.Errorf("a header of %d bytes begins with %q", size, body[8])
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(body[8:8+size], &header); err != nil {
		t.Fatal(err)
	}
	var spans [][2]int
	for name, raw := range header {
		if name == "__metadata__" {
			continue
		}
		var entry tensor
		if err := json.Unmarshal(raw, &entry); err != nil {
			t.Fatal(err)
		}
		values := 1
		for _, dim := range entry.Shape {
			values *= dim
		}
		if entry.Type != "F32" || entry.Offsets[1]-entry.Offsets[0] != 4*values {
			t.Errorf("tensor %s: %+v", name, entry)
		}
		spans = append(spans, entry.Offsets)
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	end := 0
	for _, span := range spans {
		if span[0] != end {
			t.Errorf("bytes %d to %d belong to no tensor or to two", end, span[0])
		}
		end = span[1]
	}
	if end != len(body)-8-size {
		t.Errorf("the tensors end at %d, the data at %d", end, len(body)-8-size)
	}
	got, meta, err := decodeModel(body)
	if err != nil || meta["epoch"] != "4" || got.hidden != n.hidden {
		t.Fatalf("decodeModel: %+v, %v, %v", got, meta, err)
	}
	for p, weights := range n.parameters() {
		if !slices.Equal(weights, got.parameters()[p]) {
			t.Errorf("parameter %d is not what was written", p)
		}
	}
}

func TestDecodeModelRefuses(t *testing.T) {
	_, body := model(t)
	header := string(body[8 : 8+binary.LittleEndian.Uint64(body)])
	data := body[8+len(header):]
	with := func(change func(string) string) []byte {
		text := change(header)
		return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), []byte(text), data)
	}
	replace := func(old, new string) []byte {
		return with(func(h string) string { return strings.Replace(h, old, new, 1) })
	}
	for name, body := range map[string][]byte{
		"nothing":               nil,
		"cut short":             body[:len(body)-1],
		"bytes at the end":      append(slices.Clone(body), 0),
		"a header too long":     slices.Concat(binary.LittleEndian.AppendUint64(nil, 1<<62), body[8:]),
		"a header that is text": with(func(string) string { return "hello" }),
		"another type":          replace(`"F32"`, `"F64"`),
		"another shape":         replace(`[10,3]`, `[3,10]`),
		"offsets below 0":       replace(`[0,768]`, `[-768,0]`),
		"no such tensor":        replace("output.bias", "output.bios"),
		"no size":               replace(`"hidden":"3"`, `"hidden":"x"`),
		"a size for a bomb":     replace(`"hidden":"3"`, `"hidden":"999999999"`),
	} {
		if n, _, err := decodeModel(body); err == nil {
			t.Errorf("%s: decodeModel = %d units", name, n.hidden)
		}
	}
}

func FuzzDecodeModel(f *testing.F) {
	_, body := model(f)
	f.Add(body)
	f.Add(body[:40])
	f.Fuzz(func(t *testing.T, body []byte) {
		n, meta, err := decodeModel(body)
		if err != nil {
			return
		}
		again, err := encodeModel(n, meta)
		if err != nil {
			t.Fatal(err)
		}
		other, notes, err := decodeModel(again)
		if err != nil || !maps.Equal(meta, notes) || other.hidden != n.hidden {
			t.Errorf("a model that was read and written is another: %v", err)
		}
	})
}

const readSafetensors = `
import json, sys
from safetensors import safe_open
with safe_open(sys.argv[1], framework="numpy") as f:
    print(json.dumps({
        "metadata": f.metadata(),
        "tensors": {k: [str(f.get_tensor(k).dtype), list(f.get_tensor(k).shape), float(f.get_tensor(k).astype("float64").sum())] for k in f.keys()},
    }))
`

func TestPythonReadsTheModel(t *testing.T) {
	python := servers.Python(t, "safetensors==0.6.2", "numpy==2.3.4")
	n, body := model(t)
	path := filepath.Join(t.TempDir(), ModelName)
	if err := os.WriteFile(path, body, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), python, "-c", readSafetensors, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got struct {
		Metadata map[string]string
		Tensors  map[string][]any
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got.Metadata, notes(n, 4, score{accuracy: 0.975})) {
		t.Errorf("metadata: %v", got.Metadata)
	}
	for _, want := range n.tensors() {
		var sum float64
		for _, v := range want.values {
			sum += float64(v)
		}
		shape := make([]any, len(want.shape))
		for i, dim := range want.shape {
			shape[i] = float64(dim)
		}
		entry := got.Tensors[want.name]
		if len(entry) != 3 || entry[0] != "float32" || !slices.Equal(entry[1].([]any), shape) || entry[2].(float64)-sum > 1e-9 || sum-entry[2].(float64) > 1e-9 {
			t.Errorf("tensor %s: %v, want %v with sum %v", want.name, entry, want.shape, sum)
		}
	}
}
