package openlineage

import (
	"crypto/sha1" //nolint:gosec // RFC 9562 names it for UUIDs of version 5; nothing is protected by it
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Scheme begins the ids of runs that other tools told of: openlineage://NAMESPACE/UUID.
const Scheme = "openlineage"

// urlNamespace is RFC 9562's for names that are URLs.
var urlNamespace = [16]byte{0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}

// UUID is the run's id in events: its own if it came from another tool's events, else one of version 5 that is made of
// the id alone.
func UUID(run tracker.RunID) string {
	if _, id, ok := foreign(run); ok {
		return id
	}
	h := sha1.New() //nolint:gosec // see the import
	h.Write(urlNamespace[:])
	fmt.Fprintf(h, "https://github.com/heirloom-ml/heirloom/runs/%s", run)
	var u [16]byte
	copy(u[:], h.Sum(nil))
	u[6], u[8] = u[6]&0x0f|0x50, u[8]&0x3f|0x80
	return formatUUID(u)
}

func formatUUID(u [16]byte) string {
	text := hex.EncodeToString(u[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// parseUUID reads a UUID in any case of letters and gives it in small ones.
func parseUUID(text string) (string, error) {
	bare := strings.ToLower(text)
	if len(bare) == 36 && bare[8] == '-' && bare[13] == '-' && bare[18] == '-' && bare[23] == '-' {
		var u [16]byte
		if n, err := hex.Decode(u[:], []byte(strings.ReplaceAll(bare, "-", ""))); err == nil && n == len(u) {
			return bare, nil
		}
	}
	return "", fmt.Errorf("runId is %q, want a UUID", text)
}

// RunID is the run that the events of a run UUID in a namespace tell of.
func RunID(namespace, id string) tracker.RunID {
	name := strings.ReplaceAll(url.QueryEscape(namespace), "+", "%20")
	if run := tracker.RunID(Scheme + "://" + name + "/" + id); len(run) <= maxIDBytes {
		return run
	}
	sum := sha256.Sum256([]byte(namespace))
	return tracker.RunID(Scheme + "://%~" + hex.EncodeToString(sum[:]) + "/" + id)
}

// maxIDBytes is the longest id of a run.
const maxIDBytes = 155

// foreign splits the id of a run that came from events. The namespace is "" where only its digest is left.
func foreign(run tracker.RunID) (namespace, id string, ok bool) {
	rest, ok := strings.CutPrefix(string(run), Scheme+"://")
	name, id, split := strings.Cut(rest, "/")
	if !ok || !split {
		return "", "", false
	}
	if id, err := parseUUID(id); err == nil {
		namespace, err := url.QueryUnescape(name)
		if err != nil {
			namespace = ""
		}
		return namespace, id, true
	}
	return "", "", false
}
