package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// checkTwins refuses names that the target takes for one, as same finds out.
func checkTwins(objects []Object, nameOf func(Object) string, same func(a, b string) (bool, error)) error {
	byFolded := make(map[string][]string, len(objects))
	for _, o := range objects {
		name := nameOf(o)
		folded := foldName(name)
		for _, twin := range byFolded[folded] {
			if one, err := same(twin, name); err != nil {
				return err
			} else if one {
				return &Error{Kind: ErrConflict, Err: fmt.Errorf("%q and %q are one name on this file system", twin, name)}
			}
		}
		byFolded[folded] = append(byFolded[folded], name)
	}
	return nil
}

// foldName is equal for names that some file system takes for one: those that
// differ in case, or in how their letters are composed.
func foldName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(name)))
}

// foldsTogether tries on the file system of root whether the first elements in
// which two names differ are one.
func foldsTogether(root *os.Root, a, b string) (together bool, err error) {
	first, second := firstDifference(strings.Split(a, "/"), strings.Split(b, "/"))
	dir := partStart + newWriteID()[:16] + partEnd
	if err := root.Mkdir(dir, 0o700); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, root.RemoveAll(dir)) }()
	f, err := root.OpenFile(dir+"/"+first, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	if err := f.Close(); err != nil {
		return false, err
	}
	_, err = root.Lstat(dir + "/" + second)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func firstDifference(a, b []string) (string, string) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i], b[i]
		}
	}
	return "", "" // equal, which twins are not
}
