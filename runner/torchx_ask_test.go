package runner

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// torchx is TorchX itself, which is asked what it makes of things.
type torchx struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

// answer is a value, or the name of an exception and its text.
type answer struct {
	Value json.RawMessage
	Error string
	Text  string
}

func askTorchX(t *testing.T) *torchx {
	t.Helper()
	python := servers.Python(t, "torchx==0.7.0", "fsspec==2026.9.0")
	cmd := exec.CommandContext(t.Context(), python, "testdata/torchx_runner.py")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LOGLEVEL=CRITICAL"}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &torchx{t, in, bufio.NewReader(out)}
}

func (x *torchx) ask(what string, question map[string]any) answer {
	x.t.Helper()
	if question == nil {
		question = map[string]any{}
	}
	question["ask"] = what
	body, err := json.Marshal(question)
	if err == nil {
		_, err = x.in.Write(append(body, '\n'))
	}
	var line []byte
	if err == nil {
		line, err = x.out.ReadBytes('\n')
	}
	var a answer
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		x.t.Fatalf("ask TorchX %s %s: %v", what, body, err)
	}
	return a
}

// into reads the value of an answer; an exception fails the test.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if a.Error != "" {
		t.Fatalf("TorchX: %s: %s", a.Error, a.Text)
	}
	if err := json.Unmarshal(a.Value, v); err != nil {
		t.Fatalf("TorchX: %s: %v", a.Value, err)
	}
}
