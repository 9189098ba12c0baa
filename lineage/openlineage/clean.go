package openlineage

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// maxEventBytes is the longest event that is read; the largest that tools send are some megabytes.
const maxEventBytes = 64 << 20

// canonical gives an event one form, whatever the order of its members and its spaces: sorted, without secrets.
func canonical(body []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, invalid("it is no JSON: " + reason(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, invalid("there is more behind the event")
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, invalid("it is no JSON object")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(redacted(v)); err != nil {
		return nil, invalid(err.Error())
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// redacted takes the secrets out of all texts, each beside its key, as it may be the key that tells.
func redacted(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ToValidUTF8(store.Redact(v), "\ufffd")
	case []any:
		for i := range v {
			v[i] = redacted(v[i])
		}
	case map[string]any:
		for key, member := range v {
			text, isText := member.(string)
			if !isText {
				v[key] = redacted(member)
				continue
			}
			v[key] = redactedMember(key, text)
		}
		redactPair(v)
	}
	return v
}

// redactedMember asks whether a text under that name is a secret as one would of a variable.
func redactedMember(key, text string) string {
	if key == "runId" || key == "_schemaURL" || key == "schemaURL" {
		return text
	}
	return redactNamed(key, strings.ToValidUTF8(store.Redact(text), "\ufffd"))
}

func redactNamed(name, text string) string {
	if after, ok := strings.CutPrefix(store.Redact(name+"="+text), name+"="); ok {
		return after
	}
	return text
}

// redactPair is for facets that list variables or parameters as names and values.
func redactPair(v map[string]any) {
	value, ok := v["value"].(string)
	if !ok {
		return
	}
	for _, key := range []string{"key", "name"} {
		if name, ok := v[key].(string); ok {
			value = redactNamed(name, value)
		}
	}
	v["value"] = value
}
