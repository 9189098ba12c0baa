package openlineage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Transport is where events go. The zero value is standard output.
type Transport struct {
	Disabled bool
	URL      string // of a server; "" = none
	Endpoint string // path below it; "" = api/v1/lineage
	APIKey   store.Secret
	Headers  map[string]string
	Gzip     bool
	Timeout  time.Duration // of one request; 0 = 5 s
	Retries  int           // further tries after an answer that may be another one later
	File     string        // "" = none
	Append   bool          // one file for all, one event a line; else a file for each event, its name with the time
}

// Sender takes events.
type Sender interface {
	Send(ctx context.Context, e *Event) error
}

// The standard's defaults.
const (
	defaultEndpoint = "api/v1/lineage"
	defaultTimeout  = 5 * time.Second
	defaultRetries  = 5
)

// FromEnviron reads the standard's variables: OPENLINEAGE_URL, _ENDPOINT, _API_KEY, _DISABLED, and OPENLINEAGE__TRANSPORT__…
// with TYPE http, file or console. The latter count where both say something. The error has kind store.ErrInvalid, for a
// value that cannot be, or store.ErrUnsupported, for a transport that is not spoken here.
func FromEnviron(environ []string) (Transport, error) {
	v := variables{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			v[name] = value
		}
	}
	t := Transport{Endpoint: v["OPENLINEAGE_ENDPOINT"], URL: v["OPENLINEAGE_URL"], APIKey: store.Secret(v["OPENLINEAGE_API_KEY"]), Retries: defaultRetries}
	var err error
	if t.Disabled, err = v.flag("OPENLINEAGE_DISABLED", false); err != nil {
		return t, err
	}
	return v.transport(t)
}

// variables are those of an environment.
type variables map[string]string

// transportVariable is the beginning of the variables that name parts of a transport.
const transportVariable = "OPENLINEAGE__TRANSPORT__"

func (v variables) part(name string) string { return v[transportVariable+name] }

func (v variables) flag(name string, otherwise bool) (bool, error) {
	switch text := strings.ToLower(v[name]); text {
	case "":
		return otherwise, nil
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off":
		return false, nil
	default:
		return false, refused(name, v[name], "want true or false")
	}
}

func refused(name, value, want string) error {
	return &store.Error{Op: "read " + name, Kind: store.ErrInvalid, Err: fmt.Errorf("it is %q, %s", store.Redact(value), want)}
}

// transport adds what the variables of a transport say.
func (v variables) transport(t Transport) (Transport, error) {
	switch kind := v.part("TYPE"); kind {
	case "":
		return t, nil
	case "http", "async_http":
		return v.http(t)
	case "file":
		var err error
		t.URL, t.File = "", v.part("LOG_FILE_PATH")
		if t.File == "" {
			return t, refused(transportVariable+"LOG_FILE_PATH", "", "which names the file of transport file")
		}
		t.Append, err = v.flag(transportVariable+"APPEND", false)
		return t, err
	case "console":
		t.URL = ""
		return t, nil
	default:
		err := fmt.Errorf("it is %q; http, file and console are spoken here, for others write to a file", kind)
		return t, &store.Error{Op: "read " + transportVariable + "TYPE", Kind: store.ErrUnsupported, Err: err}
	}
}

func (v variables) http(t Transport) (Transport, error) {
	if url := v.part("URL"); url != "" {
		t.URL = url
	}
	if t.URL == "" {
		return t, refused(transportVariable+"URL", "", "which is the address of transport http")
	}
	if endpoint := v.part("ENDPOINT"); endpoint != "" {
		t.Endpoint = endpoint
	}
	t.Gzip = v.part("COMPRESSION") == "gzip"
	if text := v.part("TIMEOUT"); text != "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || seconds <= 0 {
			return t, refused(transportVariable+"TIMEOUT", text, "want a number of seconds")
		}
		t.Timeout = time.Duration(seconds * float64(time.Second))
	}
	if text := v.part("CUSTOM_HEADERS"); text != "" {
		if err := json.Unmarshal([]byte(text), &t.Headers); err != nil {
			return t, &store.Error{Op: "read " + transportVariable + "CUSTOM_HEADERS", Kind: store.ErrInvalid, Err: errors.New("want a JSON object of texts")}
		}
	}
	return v.auth(t)
}

// auth reads the key of a server: one JSON object, or its members as variables of their own.
func (v variables) auth(t Transport) (Transport, error) {
	var auth struct {
		Type   string `json:"type"`
		Key    string `json:"apiKey"`
		OldKey string `json:"api_key"`
	}
	if text := v.part("AUTH"); text != "" {
		if err := json.Unmarshal([]byte(text), &auth); err != nil {
			return t, &store.Error{Op: "read " + transportVariable + "AUTH", Kind: store.ErrInvalid, Err: errors.New("it is no JSON object")}
		}
	}
	for _, part := range []struct {
		name string
		to   *string
	}{{"AUTH__TYPE", &auth.Type}, {"AUTH__APIKEY", &auth.Key}, {"AUTH__API_KEY", &auth.Key}} {
		if text := v.part(part.name); text != "" {
			*part.to = text
		}
	}
	switch auth.Type {
	case "", "api_key":
	default:
		err := fmt.Errorf("its type is %q; api_key is the one that is spoken here", auth.Type)
		return t, &store.Error{Op: "read " + transportVariable + "AUTH", Kind: store.ErrUnsupported, Err: err}
	}
	for _, key := range []string{auth.OldKey, auth.Key} {
		if key != "" {
			t.APIKey = store.Secret(key)
		}
	}
	return t, nil
}
