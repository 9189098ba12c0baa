package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

func TestSecretIsNeverSeen(t *testing.T) {
	options := store.Options{
		S3:   store.S3Options{AccessKey: "hunter2", SecretKey: "hunter2", SessionToken: "hunter2"},
		GCS:  store.GCSOptions{AccessToken: "hunter2", CredentialsJSON: "hunter2"},
		DBFS: store.DBFSOptions{Token: "hunter2"},
	}
	var seen bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		fmt.Fprintf(&seen, verb+verb+verb, options.S3, &options.GCS, options.DBFS.Token)
	}
	fmt.Fprintln(&seen, options.S3, "token "+options.DBFS.Token.String(), fmt.Errorf("as %v: %w", options.GCS, store.ErrInvalid))
	for _, handler := range []slog.Handler{slog.NewTextHandler(&seen, nil), slog.NewJSONHandler(&seen, nil)} {
		slog.New(handler).Info("open", "options", options.S3, "token", options.DBFS.Token)
	}
	if err := json.NewEncoder(&seen).Encode([]any{options.S3, options.GCS, options.DBFS}); err != nil {
		t.Fatal(err)
	}
	text := seen.String()
	if strings.Contains(text, "hunter2") || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", "hunter2")) {
		t.Errorf("a secret is seen:\n%s", text)
	}
	if !strings.Contains(text, store.RedactedMark) || store.Secret("").String() != "" {
		t.Errorf("it is not said that there is a secret:\n%s", text)
	}
}
