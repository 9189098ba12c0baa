//go:build !linux && !darwin

package localblob

import (
	"errors"
	"os"
)

func setXattr(*os.File, string, []byte) error   { return errors.ErrUnsupported }
func removeXattr(*os.File, string) error        { return errors.ErrUnsupported }
func getXattr(*os.File, string) ([]byte, error) { return nil, nil }
