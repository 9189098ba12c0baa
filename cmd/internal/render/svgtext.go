package render

import (
	"strings"
	"unicode"
)

// textLook is a size of letters, and how much wider than plain ones they are.
type textLook struct{ size, stretch float64 }

// The looks of text, as svgStyle has them.
var (
	titleText = textLook{17, 1.14}
	nameText  = textLook{13, 1.14}
	smallText = textLook{11, 1.08}
	noteText  = textLook{11, 1.04}
	linkText  = textLook{10.5, 1.04}
	chipText  = textLook{9.5, 1.04}
)

// textWidth estimates the width of text in pixels. Nobody can know it who does not know the font; it is on the large
// side of what common ones without serifs take.
func textWidth(text string, look textLook) float64 {
	em := 0.0
	for _, r := range text {
		em += letterWidth(r)
	}
	return em * look.size * look.stretch
}

// letterWidth is the width of a letter in units of the font's size.
func letterWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("iljI.,:;'|!", r):
		return 0.28
	case strings.ContainsRune("ftr()[]{}/\\- \"`", r):
		return 0.4
	case strings.ContainsRune("mwMW@%", r):
		return 0.88
	case r >= 'A' && r <= 'Z', r == '&', r == '#', r == '_':
		return 0.68
	case r < 0x300:
		return 0.57
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case isWide(r):
		return 1.05
	}
	return 0.66
}

// fitText shortens text in its middle until it fits: names begin with what they are and end with what tells them apart.
func fitText(text string, width float64, look textLook) string {
	if textWidth(text, look) <= width {
		return text
	}
	runes := []rune(text)
	for keep := len(runes) - 1; keep > 2; keep-- {
		tail := keep * 2 / 5
		short := string(runes[:keep-tail]) + "…" + string(runes[len(runes)-tail:])
		if textWidth(short, look) <= width {
			return short
		}
	}
	return "…"
}
