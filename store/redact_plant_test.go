package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"
)

// plantForms write a secret into text in the ways that secrets get there. A secret has at least 8 bytes and no
// blanks, quotes or control characters.
func plantForms() []func(secret string) string {
	return []func(string) string{
		func(s string) string { return "PASSWORD=" + s },
		func(s string) string { return "export AWS_SECRET_ACCESS_KEY=" + s },
		func(s string) string { return "db.password = '" + s + "'" },
		func(s string) string { return "api_key: " + s },
		func(s string) string { return "--client-secret=" + s },
		func(s string) string { return "train --auth-token " + s + " --lr 0.1" },
		func(s string) string { return "-e WANDB_API_KEY=" + s },
		func(s string) string { return `{"user": "u", "accessToken": ` + quoted(s) + `, "n": 1}` },
		func(s string) string { return quoted(`{"private_key": ` + quoted(s) + `}`) },
		func(s string) string { return "Authorization: Bearer " + s },
		func(s string) string { return "curl -H 'Cookie: sid=" + s + "'" },
		func(s string) string { return "https://user:" + escaped(s) + "@host/path" },
		func(s string) string { return "https://" + escaped(s) + "@host/path" },
		func(s string) string { return "postgres://u:" + escaped(s) + "@h:5432/db?x=a@b" },
		func(s string) string { return "https://b.s3.amazonaws.com/k?X-Amz-Signature=" + escaped(s) + "&x=1" },
		func(s string) string { return "https://a.blob.core.windows.net/c?sv=1&sig=" + escaped(s) },
		func(s string) string { return "AccountName=x;AccountKey=" + s + ";EndpointSuffix=y" },
		func(s string) string { return "['--password', '" + s + "']" },
		func(s string) string { return "SESSION=" + s },
		func(s string) string {
			return "-----BEGIN OPENSSH PRIVATE KEY-----\n" + s + "\n-----END OPENSSH PRIVATE KEY-----"
		},
	}
}

func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a form in JSON
	}
	return string(data)
}

// escaped writes s as it stands in a well-formed URL.
func escaped(s string) string {
	var out strings.Builder
	for i := range len(s) {
		if isRunByte(s[i]) {
			out.WriteByte(s[i])
		} else {
			fmt.Fprintf(&out, "%%%02X", s[i])
		}
	}
	return out.String()
}

func plantable(secret string) bool {
	return len(secret) >= 8 && !strings.HasPrefix(secret, "--") && !strings.ContainsAny(secret, "\"'\\[]<>") &&
		strings.IndexFunc(secret, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar }) < 0
}

func checkPlanted(t *testing.T, before, secret, after string, form func(string) string) {
	t.Helper()
	planted := form(secret)
	for _, hide := range []string{secret, escaped(secret), quoted(secret)[1 : len(quoted(secret))-1]} {
		if strings.Contains(form("")+before+after+RedactedMark, hide) {
			return // it shows by itself
		}
		text := before + "\n" + planted + "\n" + after
		got := Redact(text)
		if strings.Contains(got, hide) {
			t.Errorf("the secret %q survives in %q, which was %q", hide, got, text)
		}
		if again := Redact(got); again != got {
			t.Errorf("not idempotent: %q becomes %q", got, again)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for i := range plantForms() {
		f.Add("before x=1", "s3cr3t/with+chars=", "after: y", uint8(i))
	}
	f.Add("password=", "aaaaaaaa", `"`, uint8(3))
	f.Fuzz(func(t *testing.T, before, secret, after string, form uint8) {
		got := Redact(before + after)
		if again := Redact(got); again != got {
			t.Errorf("not idempotent: %q becomes %q", got, again)
		}
		if forms := plantForms(); plantable(secret) {
			checkPlanted(t, before, secret, after, forms[int(form)%len(forms)])
		}
	})
}

// TestPlantedSecrets plants random secrets of many alphabets in all forms, also as arguments.
func TestPlantedSecrets(t *testing.T) {
	cases := 10_000
	if os.Getenv("HEIRLOOM_STRESS") != "1" {
		cases /= 20
	}
	forms := plantForms()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range cases {
		secret := randomSecret(random)
		if !plantable(secret) {
			continue
		}
		checkPlanted(t, "epoch 1 loss=0.25 lr: 1e-3", secret, "done (exit code 0)", forms[i%len(forms)])
		checkArgs(t, secret)
	}
}

func randomSecret(random *rand.Rand) string {
	alphabets := []string{
		"0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=",
		"abc!#$%&()*+,-./:;=?@^_`{|}~", "äöü☺日本語x", "0123456789",
	}
	alphabet := []rune(alphabets[random.IntN(len(alphabets))])
	secret := make([]rune, 8+random.IntN(40))
	for i := range secret {
		secret[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(secret)
}

func checkArgs(t *testing.T, secret string) {
	t.Helper()
	spaced := secret[:3] + " " + secret[3:] + "\n'\""
	for _, argv := range [][]string{
		{"train", "--password", spaced, "x"}, {"train", "--api-key=" + spaced}, {"DB_PASSWORD=" + spaced, "train"},
		{"docker", "run", "-e", "TOKEN=" + spaced}, {"docker", "run", "--env=TOKEN=" + spaced}, {"sshpass", "-p" + spaced, "ssh"},
		{"curl", "-u", spaced},
	} {
		got := RedactArgs(argv)
		if strings.Contains(strings.Join(got, "\x00"), secret[3:]) {
			t.Errorf("the secret survives in %q, which was %q", got, argv)
		}
	}
}

// TestRedactTakesBoundedTime feeds it what makes careless matching quadratic: four times the text must not take much more
// than four times as long, on whatever machine.
func TestRedactTakesBoundedTime(t *testing.T) {
	for _, piece := range []string{
		"a=", "auth:", "token=", "a://", "a:b@", "-----BEGIN PRIVATE KEY-----", "--token ", "password=\"", "wandb", "eyJ.", `\`, "'", "x",
		"http://u:p@", "token=[redacted] ", "secret=true&", "=%41", "curl -u ",
	} {
		var growth float64
		for range 5 { // the first time something may be made that is kept
			small, large := redactTime(t, piece, 4<<10), redactTime(t, piece, 16<<10)
			if growth = float64(large) / float64(small); growth < 10 {
				break
			}
		}
		if growth >= 10 {
			t.Errorf("16 KiB of %q took %.0f times as long as 4 KiB", piece, growth)
		}
	}
}

func redactTime(t *testing.T, piece string, size int) time.Duration {
	t.Helper()
	text := strings.Repeat(piece, size/len(piece))
	return timeOf(t, func() { Redact(text) })
}
