package localblob

import "strings"

// isUnsafe says whether the byte at i cannot stand in a file name, besides control characters. Trailing dots and spaces are dropped by Windows.
func isUnsafe(elem string, i int) bool {
	c := elem[i]
	if strings.IndexByte(`<>:"|?*\`, c) >= 0 {
		return true
	}
	return i == len(elem)-1 && (c == '.' || c == ' ')
}

// isReserved says whether elem names a device, with or without an extension.
func isReserved(elem string) bool {
	stem, _, _ := strings.Cut(elem, ".")
	switch strings.ToUpper(strings.TrimRight(stem, " ")) {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if len(stem) != 4 {
		return false
	}
	kind := strings.ToUpper(stem[:3])
	return (kind == "COM" || kind == "LPT") && stem[3] >= '0' && stem[3] <= '9'
}
