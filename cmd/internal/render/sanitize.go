package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes a name harmless in a terminal, a table or a picture: control characters, escapes, line and paragraph
// breaks, marks that reorder or hide text, unassigned characters and bytes that are not UTF-8 are spelled out as \n,
// \u202e or \xff. Everything else stays, also wide and combining letters.
func Sanitize(name string) string {
	if !strings.ContainsFunc(name, hidden) && utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && size <= 1 {
			fmt.Fprintf(&b, `\x%02x`, name[i])
		} else {
			b.WriteString(spell(r))
		}
		i += size
	}
	return b.String()
}

// SanitizeLines is Sanitize for a text of several lines, which keeps its breaks and tabs.
func SanitizeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j := range cells {
			cells[j] = Sanitize(cells[j])
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// spell returns a rune as it is, or spelled out.
func spell(r rune) string {
	switch {
	case !hidden(r):
		return string(r)
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// hidden reports whether a rune has no picture of its own. The two joiners have none either, but Persian, Indic
// scripts and emoji are wrong without them.
func hidden(r rune) bool {
	return !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d'
}

// width is the number of terminal columns of sanitised text, in the simple way: none for combining marks and joiners,
// two for East Asian wide letters and emoji, one for all else.
func width(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case r < 0x300:
			n++
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// wide holds the ranges that Unicode's EastAsianWidth.txt gives as W or F, joined where only rare letters lie between.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, // Hangul Jamo
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1}, // CJK radicals and punctuation
		{Lo: 0x3041, Hi: 0x4dbf, Stride: 1}, // Kana, CJK extension A
		{Lo: 0x4e00, Hi: 0xa4cf, Stride: 1}, // CJK ideographs, Yi
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, // Hangul syllables
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff01, Hi: 0xff60, Stride: 1}, // full-width forms
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x18cff, Stride: 1}, // Tangut and others
		{Lo: 0x1b000, Hi: 0x1b2ff, Stride: 1},
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, // pictures, faces
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1faff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

func isWide(r rune) bool { return unicode.Is(wide, r) }
