package runner

// torchxError is an error with TorchX's own words and a kind of package store.
type torchxError struct {
	text string
	kind error
}

func (e *torchxError) Error() string { return e.text }
func (e *torchxError) Unwrap() error { return e.kind }
