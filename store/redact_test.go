package store

import (
	"slices"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"assignment", "x=1 PASSWORD=hunter2 y", "x=1 PASSWORD=[redacted] y"},
		{"spaces", "db.password = hunter2", "db.password = [redacted]"},
		{"code of S3", "InvalidAccessKeyId: The key, InvalidToken: The token", "InvalidAccessKeyId: The key, InvalidToken: The token"},
		{"no code", "InvalidToken=abc", "InvalidToken=[redacted]"},
		{"yaml", "api_key: abc123", "api_key: [redacted]"},
		{"json", `{"user":"a","client_secret":"b\"c","n":1}`, `{"user":"a","client_secret":"[redacted]","n":1}`},
		{"escaped json", `"{\"token\": \"abc\", \"n\": 1}"`, `"{\"token\": \"[redacted]\", \"n\": 1}"`},
		{"camel case", "clientSecret=abc dbPassword=x", "clientSecret=[redacted] dbPassword=[redacted]"},
		{"open quote", "secret='abc def\nnext", "secret='[redacted]\nnext"},
		{"inner assignment", "--env=TOKEN=abc", "--env=TOKEN=[redacted]"},
		{"flag", "run --token abc --lr 0.1", "run --token [redacted] --lr 0.1"},
		{"flag in a list", `['--password', 'abc']`, `['--password', '[redacted]']`},
		{"switch", "run --token --lr 0.1", "run --token --lr 0.1"},
		{"userinfo", "git clone https://user:p@ss@host/x", "git clone https://[redacted]@host/x"},
		{"raw slash", "postgres://u:p/w@host/db", "postgres://[redacted]@host/db"},
		{"token as user", "https://abcdef@host/x", "https://[redacted]@host/x"},
		{"plain user", "ssh://git@host/x hdfs://ann@nn/x", "ssh://git@host/x hdfs://ann@nn/x"},
		{"at in a path", "http://host:8080/@scope/pkg", "http://host:8080/@scope/pkg"},
		{"signed", "https://h/k?X-Amz-Signature=ab&x=1&X-Amz-Credential=AK/us", "https://h/k?X-Amz-Signature=[redacted]&x=1&X-Amz-Credential=[redacted]"},
		{"sas", "https://h/k?sv=1&sig=a%2Fb%3D&x=1", "https://h/k?sv=1&sig=[redacted]&x=1"},
		{"header", "curl -H 'Authorization: Basic YWJj' url", "curl -H 'Authorization: [redacted]' url"},
		{"bearer", "sent Bearer abcdef12345", "sent Bearer [redacted]"},
		{"aws", "id AKIAIOSFODNN7EXAMPLE.", "id [redacted]."},
		{"github", "ghp_0123456789abcdefABCDEF0123456789abcd", "[redacted]"},
		{"jwt", "got eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ", "got [redacted]"},
		{"key", "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb", "a\n[redacted]\nb"},
		{"cut key", "-----BEGIN PRIVATE KEY-----\nMII", "[redacted]"},
		{"wandb", "wandb login 0123456789abcdef0123456789abcdef01234567", "wandb login [redacted]"},
		{"commit", "commit 0123456789abcdef0123456789abcdef01234567", "commit 0123456789abcdef0123456789abcdef01234567"},

		{"tokens of text", "--max-tokens 512 --tokenizer bert pad_token=<pad> eos_token_id=2", "--max-tokens 512 --tokenizer bert pad_token=<pad> eos_token_id=2"},
		{"about a secret", "token_file=/run/t --password-file p auth_url=http://h", "token_file=/run/t --password-file p auth_url=http://h"},
		{"prose", "auth: permission denied; session: closed", "auth: permission denied; session: closed"},
		{"file of secrets", "open /etc/passwd: permission denied", "open /etc/passwd: permission denied"},
		{"file of secrets quoted", `stat "/run/secrets/token": no such file or directory`, `stat "/run/secrets/token": no such file or directory`},
		{"file of secrets again", "read ~/.aws/credentials: is a directory; next", "read ~/.aws/credentials: is a directory; next"},
		{"no error", "/etc/passwd: permission", "/etc/passwd: [redacted]"},
		{"error assigned", "password=permission denied", "password=[redacted] denied"},
		{"quoted error", `password: "permission denied"`, `password: "[redacted]"`},
		{"directory", "PWD=/home/ann", "PWD=/home/ann"},
		{"words", "author=ann compass=n bypass=1 basic training", "author=ann compass=n bypass=1 basic training"},
		{"empty", "password= next", "password= [redacted]"},
		{"switch value", "use_auth=true", "use_auth=true"},
		{"behind a quoted URL", "curl 'https://h/a?x=1&y=2' -u ann:hunter2", "curl 'https://h/a?x=1&y=2' -u [redacted]"},
		{"put together of quotes", "curl -u 'ann:x;y'hunter2\"; z\" https://h", "curl -u [redacted] https://h"},
		{"quoted twice", "identified by \"a&b\"--user=sshpass next", "identified by [redacted] next"},
		{"two flags for one", "aws set --token 'a;b'| x", "aws set --token '[redacted]'| x"},
		{"several behind one word", "wandb " + strings.Repeat("0123456789", 4) + " " + strings.Repeat("abcdef0123", 4), "wandb [redacted] [redacted]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Redact(tt.text)
			if got != tt.want {
				t.Errorf("Redact(%q)\n got %q\nwant %q", tt.text, got, tt.want)
			}
			if again := Redact(got); again != got {
				t.Errorf("not idempotent: %q becomes %q", got, again)
			}
			if HasRedaction(got) != strings.Contains(got, "[redacted]") {
				t.Errorf("HasRedaction(%q) = %v", got, HasRedaction(got))
			}
		})
	}
}

func TestRedactArgs(t *testing.T) {
	tests := []struct{ argv, want string }{
		{"train --lr 0.1 --api-key abc out", "train --lr 0.1 --api-key [redacted] out"},
		{"train --password=a=b", "train --password=[redacted]"},
		{"WANDB_API_KEY=abc train", "WANDB_API_KEY=[redacted] train"},
		{"docker run -e TOKEN=abc img", "docker run -e TOKEN=[redacted] img"},
		{"mysql -uann -phunter2 db", "mysql -uann -p[redacted] db"},
		{"train -p8080", "train -p8080"},
		{"curl -u ann:hunter2 url", "curl -u [redacted] url"},
		{"train --token", "train --token"},
		{"train --token --lr 1", "train --token --lr 1"},
		{"train --private data.csv", "train --private data.csv"},
		{"train --seed 7 --name pass", "train --seed 7 --name pass"},
	}
	for _, tt := range tests {
		argv := strings.Fields(tt.argv)
		got := RedactArgs(argv)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("RedactArgs(%s) = %s, want %s", tt.argv, got, tt.want)
		}
		if again := RedactArgs(got); !slices.Equal(again, got) {
			t.Errorf("not idempotent: %q becomes %q", got, again)
		}
		if strings.Join(argv, " ") != tt.argv {
			t.Errorf("RedactArgs changed its argument to %q", argv)
		}
	}
	blank := RedactArgs([]string{"train", "--password=a b c", "--env=SECRET=d e f"})
	if want := []string{"train", "--password=[redacted]", "--env=SECRET=[redacted]"}; !slices.Equal(blank, want) {
		t.Errorf("with blanks: %q", blank)
	}
}

func TestRedactEnv(t *testing.T) {
	got := RedactEnv([]string{
		"WORLD_SIZE=8", "HOME=/root", "CUDA_VISIBLE_DEVICES=0,1", "AWS_SECRET_ACCESS_KEY=x", "MY_TOKEN=abc", "MY_MODE=fast",
		"broken", "TF_TOKEN=abc",
	}, "MY_*")
	want := []string{"CUDA_VISIBLE_DEVICES=0,1", "MY_MODE=fast", "MY_TOKEN=[redacted]", "TF_TOKEN=[redacted]", "WORLD_SIZE=8"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
