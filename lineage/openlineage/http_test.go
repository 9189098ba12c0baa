package openlineage

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

const key = "sesame-open-9f8e7d6c"

// server answers each request by the next of the answers, the last one for ever, and notes what came.
func server(t *testing.T, answers ...int) (*httptest.Server, *[]*http.Request, *[]string) {
	t.Helper()
	var requests []*http.Request
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			in = z
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Error(err)
		}
		requests, bodies = append(requests, r), append(bodies, string(body))
		code := answers[min(len(requests), len(answers))-1]
		w.WriteHeader(code)
		if code != http.StatusOK {
			_, _ = io.WriteString(w, "no: "+r.Header.Get("Authorization"))
		}
	}))
	t.Cleanup(s.Close)
	return s, &requests, &bodies
}

// sender is one that does not wait.
func sender(t *testing.T, transport Transport) (*HTTP, *[]time.Duration) {
	t.Helper()
	h, err := NewHTTP(transport)
	if err != nil {
		t.Fatal(err)
	}
	var waits []time.Duration
	h.sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	return h, &waits
}

var event = &Event{Type: Start, Time: "2026-11-20T10:00:00Z", Run: Run{ID: UUID("a")}, Job: Job{Namespace: "n", Name: "j"}, Inputs: []Dataset{}, Outputs: []Dataset{}}

func TestSend(t *testing.T) {
	for _, zip := range []bool{false, true} {
		s, requests, bodies := server(t, 200)
		h, _ := sender(t, Transport{URL: s.URL + "/base/", APIKey: key, Gzip: zip, Headers: map[string]string{"X-Team": "vision"}})
		if err := h.Send(t.Context(), event); err != nil {
			t.Fatal(err)
		}
		r := (*requests)[0]
		if r.Method != "POST" || r.URL.Path != "/base/api/v1/lineage" || r.Header.Get("Authorization") != "Bearer "+key ||
			r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Team") != "vision" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		if got, err := Parse([]byte((*bodies)[0])); err != nil || got.Run.ID != event.Run.ID {
			t.Errorf("%s, %v", (*bodies)[0], err)
		}
	}
}

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	s, requests, bodies := server(t, 503, 429, 502, 200)
	h, waits := sender(t, Transport{URL: s.URL, Retries: defaultRetries})
	if err := h.Send(t.Context(), event); err != nil || len(*requests) != 4 || (*bodies)[3] != (*bodies)[0] {
		t.Errorf("%d requests, %v", len(*requests), err)
	}
	if want := []time.Duration{firstPause, 2 * firstPause, 4 * firstPause}; len(*waits) != 3 || (*waits)[2] != want[2] {
		t.Errorf("waited %v, want %v", *waits, want)
	}
}

func TestAnswersHaveKindsAndNoKey(t *testing.T) {
	for code, kind := range map[int]error{401: store.ErrPermission, 403: store.ErrPermission, 404: store.ErrNotExist, 400: store.ErrInvalid, 422: store.ErrInvalid, 500: store.ErrUnavailable} {
		s, requests, _ := server(t, code)
		h, _ := sender(t, Transport{URL: s.URL, APIKey: key, Retries: 2})
		err := h.Send(t.Context(), event)
		if !errors.Is(err, kind) || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "no: ") {
			t.Errorf("%d: %v, want kind %v and no key", code, err, kind)
		}
		if n := len(*requests); (n == 3) != (code == 500) {
			t.Errorf("%d: %d requests", code, n)
		}
	}
	h, _ := sender(t, Transport{URL: "http://user:" + key + "@127.0.0.1:1/?api_key=" + key, APIKey: key})
	if err := h.Send(t.Context(), event); !errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), key) {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := NewHTTP(Transport{URL: "ftp://x"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("ftp: %v", err)
	}
}

func TestSendStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, _, _ := server(t, 503)
	h, _ := sender(t, Transport{URL: s.URL, Retries: 100})
	h.sleep = func(context.Context, time.Duration) error { cancel(); return ctx.Err() }
	if err := h.Send(ctx, event); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestVariables(t *testing.T) {
	tests := []struct {
		environ string
		want    Transport
		kind    error
	}{
		{"", Transport{Retries: 5}, nil},
		{"OPENLINEAGE_URL=http://a OPENLINEAGE_ENDPOINT=e OPENLINEAGE_API_KEY=k", Transport{URL: "http://a", Endpoint: "e", APIKey: "k", Retries: 5}, nil},
		{"OPENLINEAGE_DISABLED=True", Transport{Disabled: true, Retries: 5}, nil},
		{"OPENLINEAGE_DISABLED=perhaps", Transport{}, store.ErrInvalid},
		{"OPENLINEAGE_URL=http://a OPENLINEAGE__TRANSPORT__TYPE=console", Transport{Retries: 5}, nil},
		{"OPENLINEAGE__TRANSPORT__TYPE=file OPENLINEAGE__TRANSPORT__LOG_FILE_PATH=f OPENLINEAGE__TRANSPORT__APPEND=true", Transport{File: "f", Append: true, Retries: 5}, nil},
		{"OPENLINEAGE__TRANSPORT__TYPE=file", Transport{}, store.ErrInvalid},
		{"OPENLINEAGE__TRANSPORT__TYPE=kafka", Transport{}, store.ErrUnsupported},
		{"OPENLINEAGE__TRANSPORT__TYPE=http", Transport{}, store.ErrInvalid},
		{`OPENLINEAGE__TRANSPORT__TYPE=http OPENLINEAGE__TRANSPORT__URL=http://b OPENLINEAGE__TRANSPORT__TIMEOUT=0.5 OPENLINEAGE__TRANSPORT__COMPRESSION=gzip OPENLINEAGE__TRANSPORT__AUTH={"type":"api_key","apiKey":"k"}`,
			Transport{URL: "http://b", Timeout: time.Second / 2, Gzip: true, APIKey: "k", Retries: 5}, nil},
		{`OPENLINEAGE__TRANSPORT__TYPE=http OPENLINEAGE__TRANSPORT__URL=http://b OPENLINEAGE__TRANSPORT__AUTH__TYPE=api_key OPENLINEAGE__TRANSPORT__AUTH__APIKEY=k`, Transport{URL: "http://b", APIKey: "k", Retries: 5}, nil},
		{`OPENLINEAGE__TRANSPORT__TYPE=http OPENLINEAGE__TRANSPORT__URL=http://b OPENLINEAGE__TRANSPORT__AUTH={"type":"jwt"}`, Transport{}, store.ErrUnsupported},
		{`OPENLINEAGE__TRANSPORT__TYPE=http OPENLINEAGE__TRANSPORT__URL=http://b OPENLINEAGE__TRANSPORT__TIMEOUT=soon`, Transport{}, store.ErrInvalid},
	}
	for _, tt := range tests {
		got, err := FromEnviron(strings.Fields(tt.environ))
		if tt.kind != nil {
			if !errors.Is(err, tt.kind) {
				t.Errorf("%s: %v, want kind %v", tt.environ, err, tt.kind)
			}
			continue
		}
		a, errA := json.Marshal(got)
		b, errB := json.Marshal(tt.want)
		if err != nil || errA != nil || errB != nil || string(a) != string(b) || got.APIKey != tt.want.APIKey {
			t.Errorf("%s: %s, %v; want %s", tt.environ, a, err, b)
		}
	}
}
