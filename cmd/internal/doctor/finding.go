package doctor

import (
	"errors"

	"github.com/heirloom-ml/heirloom/store"
)

// Status is how a check ended.
type Status string

// The ways a check can end.
const (
	OK      Status = "ok"
	Warning Status = "warning" // it works, but someone should know
	Failed  Status = "failed"
	Skipped Status = "skipped" // it could not be tried, or does not apply
)

// Finding is what one check found.
type Finding struct {
	Check   string
	Status  Status
	Message string // one sentence, without a full stop
	Advice  string // what to do; "" if there is nothing
	Err     error  // of a failure: its kind, for the exit code
}

func ok(message string) Finding { return Finding{Status: OK, Message: message} }

func skipped(message string) Finding { return Finding{Status: Skipped, Message: message} }

func warning(message, advice string) Finding {
	return Finding{Status: Warning, Message: message, Advice: advice}
}

func failed(kind error, message, advice string) Finding {
	return Finding{Status: Failed, Message: message, Advice: advice, Err: kind}
}

// errWrong is the kind of a failure that has no kind among the store's.
var errWrong = errors.New("not as it should be")

// kindOf is the store's kind of err, or errWrong.
func kindOf(err error) error {
	if e, ok := errors.AsType[*store.Error](err); ok && e.Kind != nil {
		return e.Kind
	}
	return errWrong
}
