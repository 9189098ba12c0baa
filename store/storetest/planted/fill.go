package planted

import (
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

const (
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
)

// alphabets by the letter that stands for them. Passwords, p, have what needs
// no quotes in a shell and is often found in them.
func alphabets() map[byte]string {
	return map[byte]string{
		'A': upper + digits, 'a': upper + lower + digits, 'h': "0123456789abcdef", 'd': digits,
		'b': upper + lower + digits + "+/", 'u': upper + lower + digits + "-_", 'p': upper + lower + digits + "!#%+,.:=^_-",
	}
}

var hole = pattern.Lazy(`\{([A-Za-z])([0-9]+)\}`)

// fill replaces {a24} by 24 random characters of the alphabet a. The first and
// the last is a letter or digit.
func fill(random *rand.Rand, form string) string {
	all := alphabets()
	return hole().ReplaceAllStringFunc(form, func(found string) string {
		alphabet := all[found[1]]
		n, _ := strconv.Atoi(found[2 : len(found)-1])
		out := make([]byte, n)
		for i := range out {
			out[i] = alphabet[random.IntN(len(alphabet))]
			for (i == 0 || i == n-1) && !strings.ContainsRune(upper+lower+digits, rune(out[i])) {
				out[i] = alphabet[random.IntN(len(alphabet))]
			}
		}
		return string(out)
	})
}

// escape is for a part of a URL.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
