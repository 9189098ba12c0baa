package runner

import (
	"encoding/json"
	"strconv"
	"time"
)

// ReplicaError is what a job says of its own failure, in the file that
// TORCHELASTIC_ERROR_FILE names.
type ReplicaError struct {
	Message  string    `json:"message"`             // "" = the file holds something else; see Raw
	ExitCode *int      `json:"exit_code,omitempty"` // nil = not said
	Time     time.Time `json:"time,omitzero"`       // zero = not said
	Raw      string    `json:"raw,omitempty"`       // the file, where it has neither form
}

// ParseReplicaError reads an error file, in the forms that TorchX knows:
//
//	{"message": {"message": TEXT, "errorCode": N, "extraInfo": {"timestamp": SECONDS}}}
//	{"message": TEXT, "errorCode": N, "timestamp": SECONDS}
//
// Anything else is kept as it is.
func ParseReplicaError(body []byte) *ReplicaError {
	var outer struct {
		Message   json.RawMessage
		ErrorCode json.RawMessage
		Timestamp json.RawMessage
		ExtraInfo struct{ Timestamp json.RawMessage }
	}
	raw := &ReplicaError{Raw: string(body)}
	if json.Unmarshal(body, &outer) != nil {
		return raw
	}
	var text string
	if json.Unmarshal(outer.Message, &text) == nil {
		return &ReplicaError{Message: text, ExitCode: intOf(outer.ErrorCode), Time: secondsOf(outer.Timestamp)}
	}
	code := outer.ErrorCode
	outer.ErrorCode = nil
	if json.Unmarshal(outer.Message, &outer) != nil || json.Unmarshal(outer.Message, &text) != nil {
		return raw
	}
	if outer.ErrorCode == nil {
		outer.ErrorCode = code
	}
	return &ReplicaError{Message: text, ExitCode: intOf(outer.ErrorCode), Time: secondsOf(outer.ExtraInfo.Timestamp)}
}

// intOf reads a number, also one written as text; nil if there is none.
func intOf(raw json.RawMessage) *int {
	if n, err := strconv.Atoi(unquoted(raw)); err == nil {
		return &n
	}
	return nil
}

func secondsOf(raw json.RawMessage) time.Time {
	seconds, err := strconv.ParseFloat(unquoted(raw), 64)
	if err != nil || seconds <= 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.UnixMicro(int64(seconds * 1e6)).UTC()
}

func unquoted(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
