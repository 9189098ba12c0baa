package pyjson_test

import (
	"bufio"
	"bytes"
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const generated = 4000 // values in each direction

// python is the interpreter to compare with. Without one the test is skipped,
// or fails if HEIRLOOM_MUST_RUN names python.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		return path
	}
	servers.Missing(t, err, "apt-get install python3", "python")
	return ""
}

func runPython(t *testing.T, stdin []byte, script string, args ...string) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, python(t), append([]string{"-c", script}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 1<<24)
	for scan.Scan() {
		lines = append(lines, scan.Text())
	}
	return lines
}

// TestMarshalEqualsPython writes values and lets Python write them again.
func TestMarshalEqualsPython(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	var in bytes.Buffer
	var want []string
	for range generated {
		text, err := pyjson.Marshal(randomValue(random, 4))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(text))
		in.Write(append(text, '\n'))
	}
	got := runPython(t, in.Bytes(), "import json,sys\nfor line in sys.stdin: print(json.dumps(json.loads(line)))")
	if len(got) != len(want) {
		t.Fatalf("Python wrote %d values of %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("value %d (seed %d): heirloom %s, Python %s", i, seed, want[i], got[i])
		}
	}
}

// TestUnmarshalEqualsPython reads values that Python wrote and writes them again.
func TestUnmarshalEqualsPython(t *testing.T) {
	const script = `
import json, random, struct, sys
r = random.Random(int(sys.argv[1]))
def text():
    n = r.randrange(8)
    return "".join(chr(r.choice([r.randrange(0x80), r.randrange(0x800), r.randrange(0x10000), r.randrange(0x110000), 0xd800 + r.randrange(0x800)])) for _ in range(n))
def value(depth):
    k = r.randrange(9 if depth else 7)
    if k == 0: return None
    if k == 1: return r.random() < .5
    if k == 2: return r.randrange(-10, 10) * 10 ** r.randrange(30)
    if k == 3: return struct.unpack("d", r.randbytes(8))[0]
    if k == 4: return r.choice([0.1, 1e16, 1e15, 123456789012345680.0, -0.0, 1e-4, 1e-5, 5e-324, 1.7976931348623157e308, float("nan"), float("inf"), float("-inf")])
    if k == 5: return round(r.uniform(-1000, 1000), r.randrange(6))
    if k == 6: return text()
    if k == 7: return [value(depth - 1) for _ in range(r.randrange(5))]
    return {text(): value(depth - 1) for _ in range(r.randrange(5))}
for _ in range(int(sys.argv[2])): print(json.dumps(value(4)))
`
	lines := runPython(t, nil, script, "7", "4000")
	if len(lines) != generated {
		t.Fatalf("Python wrote %d values", len(lines))
	}
	for _, line := range lines {
		v, err := pyjson.Unmarshal([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got, err := pyjson.Marshal(v); err != nil || string(got) != line {
			t.Errorf("heirloom %s, Python %s, error %v", got, line, err)
		}
	}
}

func randomValue(r *rand.Rand, depth int) any {
	kinds := 9
	if depth == 0 {
		kinds = 7
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return int64(r.Uint64() >> r.IntN(64))
	case 3:
		n := new(big.Int).Lsh(big.NewInt(r.Int64()), uint(r.IntN(200)))
		return n.Neg(n)
	case 4:
		return math.Float64frombits(r.Uint64())
	case 5:
		return float64(r.IntN(2_000_001)-1_000_000) * math.Pow10(r.IntN(40)-20)
	case 6:
		return randomText(r)
	case 7:
		list := []any{}
		for range r.IntN(5) {
			list = append(list, randomValue(r, depth-1))
		}
		return list
	}
	o := &pyjson.Object{}
	for range r.IntN(5) {
		o.Set(randomText(r), randomValue(r, depth-1))
	}
	return o
}

func randomText(r *rand.Rand) string {
	var runes []rune
	limits := []int{0x80, 0x800, 0x10000, 0x110000}
	for range r.IntN(8) {
		runes = append(runes, rune(r.IntN(limits[r.IntN(len(limits))])))
	}
	return string(runes)
}
