package planted

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Find looks for the secrets in the names and the bytes of all files below dir,
// in every form in which they could be there, and says in which file which was
// found. dir must hold a file.
func Find(dir string, secrets []Secret) ([]string, error) {
	var found []string
	wanted := newNeedles(secrets)
	files := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text := names(strings.TrimPrefix(file, dir))
		if d.Type().IsRegular() {
			body, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			files++
			text += "\n" + string(body)
		}
		for _, n := range wanted.in(text) {
			found = append(found, fmt.Sprintf("%s: the %s %q of %q", file, n.secret.Kind, n.form, n.secret.Args))
		}
		return nil
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("%s holds no file", dir)
	}
	return found, err
}

// needle is one form of one secret.
type needle struct {
	form   string
	secret *Secret
}

// needles are found in one pass over a text, however many they are.
type needles struct {
	head   int                 // bytes of a form's beginning, as many as the shortest has
	byHead map[string][]needle // by its beginning
}

func newNeedles(secrets []Secret) needles {
	var all []needle
	shortest := 16
	for i := range secrets {
		for _, hidden := range secrets[i].Hidden {
			for _, form := range forms(hidden) {
				all = append(all, needle{form, &secrets[i]})
				shortest = min(shortest, len(form))
			}
		}
	}
	n := needles{head: shortest, byHead: map[string][]needle{}}
	for _, one := range all {
		at := one.form[:shortest]
		n.byHead[at] = append(n.byHead[at], one)
	}
	return n
}

// in gives the first form of each secret that text holds.
func (n needles) in(text string) []needle {
	var found []needle
	told := map[*Secret]bool{}
	for i := range len(text) - n.head + 1 {
		for _, one := range n.byHead[text[i:i+n.head]] {
			if !told[one.secret] && strings.HasPrefix(text[i:], one.form) {
				told[one.secret] = true
				found = append(found, one)
			}
		}
	}
	return found
}

// names are the ways to read a path.
func names(path string) string {
	texts := []string{path}
	if plain, err := url.PathUnescape(path); err == nil {
		texts = append(texts, plain)
	}
	for _, elem := range strings.Split(path, string(filepath.Separator)) {
		if plain, err := base32.StdEncoding.DecodeString(elem); err == nil {
			texts = append(texts, string(plain))
		}
	}
	return strings.Join(texts, "\n")
}

// forms are the ways to write a secret.
func forms(s string) []string {
	quoted, _ := json.Marshal(s) // text has a form in JSON
	return []string{
		s, url.QueryEscape(s), url.PathEscape(s), escape(s), strings.ReplaceAll(s, "/", `\/`), strings.Trim(string(quoted), `"`),
		base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)), hex.EncodeToString([]byte(s)),
		base32.StdEncoding.EncodeToString([]byte(s)),
	}
}
