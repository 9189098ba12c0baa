package slurm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// Request is what sbatch is given. It may be edited before it is submitted.
type Request struct {
	Args   []string `json:"args"`   // of sbatch, before the script's path
	Script string   `json:"script"` // the batch script
	Dir    string   `json:"dir"`    // the job directory, in which the script will lie
	// Body is the user's own script, which Script runs; "" = the app's roles are run.
	Body string `json:"body,omitempty"`
}

// String shows the script, with the call of sbatch in its head.
func (r Request) String() string { return store.Redact(r.Script) }

// requestOf gives the request of a plan, also of one read back from JSON.
func requestOf(plan *runner.Plan) (Request, error) {
	switch r := plan.Request.(type) {
	case Request:
		return r, nil
	case *Request:
		return *r, nil
	case json.RawMessage:
		var request Request
		if err := json.Unmarshal(r, &request); err != nil {
			return Request{}, invalid("the plan's request cannot be read: %v", err)
		}
		return request, nil
	}
	return Request{}, invalid("the plan's request is %T, not one of Slurm", plan.Request)
}

// quote makes a word that a shell reads as text.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,%@+", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// addFlag adds --name=value, unless there is no value.
func addFlag(words []string, name string, value any) []string {
	if text := fmt.Sprint(value); text != "" && text != "0" {
		words = append(words, "--"+name+"="+text)
	}
	return words
}
