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
		for _, s := range secrets {
			if hidden := s.in(text); hidden != "" {
				found = append(found, fmt.Sprintf("%s: the %s %q of %q", file, s.Kind, hidden, s.Args))
			}
		}
		return nil
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("%s holds no file", dir)
	}
	return found, err
}

// In says which of what must be hidden text holds, "" for none.
func (s Secret) in(text string) string {
	for _, hidden := range s.Hidden {
		for _, form := range forms(hidden) {
			if strings.Contains(text, form) {
				return form
			}
		}
	}
	return ""
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
