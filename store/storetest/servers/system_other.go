//go:build !unix

package servers

import "errors"

func lockFile(string) (func() error, error) {
	return nil, errors.New("test servers run on Unix only")
}
