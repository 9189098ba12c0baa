package planted

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
)

// Secret is one in the place where it leaks. It has arguments, and often a
// variable and a URL too.
type Secret struct {
	Kind   string   // as in "token of GitHub"
	Args   []string // of a command line, at least one
	Env    string   // "NAME=value", the name one that is recorded; "" = none
	URL    string   // "" = none
	Hidden []string // what must be found nowhere, 8 bytes or more each
}

// Make returns the secret number i; the kinds take turns.
func Make(random *rand.Rand, i int) Secret {
	kinds := kinds()
	k := kinds[i%len(kinds)]
	s := k.make(random)
	s.Kind = k.name
	return s
}

// Kinds is how many kinds there are.
func Kinds() int { return len(kinds()) }

// Many returns the secrets from number first on.
func Many(random *rand.Rand, first, count int) []Secret {
	list := make([]Secret, count)
	for i := range list {
		list[i] = Make(random, first+i)
	}
	return list
}

type kind struct {
	name string
	make func(random *rand.Rand) Secret
}

func kinds() []kind {
	var all []kind
	for _, t := range tokens() {
		all = append(all, kind{t[0], func(random *rand.Rand) Secret { return shaped(random, t[1]) }})
	}
	for _, form := range urls() {
		all = append(all, kind{form, func(random *rand.Rand) Secret { return inURL(random, form) }})
	}
	for _, form := range texts() {
		all = append(all, kind{form, func(random *rand.Rand) Secret { return inText(random, form) }})
	}
	return append(all, kind{"private key", privateKey}, kind{"service account", serviceAccount}, kind{"pair of AWS", awsPair})
}

// tokens show what they are; fill says how they are written.
func tokens() [][2]string {
	return [][2]string{
		{"key of AWS and its id", "AKIA{A16}:{b40}"},
		{"session of AWS", "IQoJb3JpZ2luX2Vj{b200}"},
		{"token of GitHub", "ghp_{a36}"},
		{"token of a GitHub app", "ghs_{a36}"},
		{"fine-grained token of GitHub", "github_pat_{a22}_{a59}"},
		{"token of GitLab", "glpat-{u20}"},
		{"routable token of GitLab", "glpat-{u27}.01.{a9}"},
		{"token of Hugging Face", "hf_{a34}"},
		{"key of OpenAI", "sk-{a48}"},
		{"project key of OpenAI", "sk-proj-{u74}T3BlbkFJ{u74}"},
		{"key of Anthropic", "sk-ant-api03-{u93}AA"},
		{"token of a Slack bot", "xoxb-{d12}-{d12}-{a24}"},
		{"hook of Slack", "https://hooks.slack.com/services/T{A8}/B{A8}/{a24}"},
		{"token of Databricks", "dapi{h32}"},
		{"secret of Databricks", "dose{h32}"},
		{"JWT", "eyJhbGciOiJIUzI1NiJ9.eyJ{u60}.{u43}"},
		{"key of Google", "AIza{u35}"},
		{"token of Google", "ya29.{u120}"},
		{"refresh token of Google", "1//0{u60}"},
		{"client of Google", "GOCSPX-{u28}"},
		{"token of npm", "npm_{a36}"},
		{"token of PyPI", "pypi-AgEIcHlwaS5vcmc{u120}"},
		{"token of Docker", "dckr_pat_{u27}"},
		{"key of NVIDIA", "nvapi-{u64}"},
		{"key of Groq", "gsk_{a52}"},
		{"key of Stripe", "sk_live_{a24}"},
		{"token of Vault", "hvs.{u90}"},
		{"token of Telegram", "{d10}:AA{u33}"},
		{"key of SendGrid", "SG.{u22}.{u43}"},
	}
}

// urls have a secret, %s, that is escaped where it must be.
func urls() []string {
	return []string{
		"https://ann:%s@host/repo.git", "https://%s@host/repo.git", "https://oauth2:%s@gitlab.com/g/p.git",
		"https://%s:x-oauth-basic@github.com/o/r", "postgres://ann:%s@db:5432/runs?sslmode=require", "mysql+pymysql://ann:%s@db/runs",
		"mongodb+srv://ann:%s@cluster/db", "redis://:%s@cache:6379/0", "amqp://ann:%s@mq/vhost", "sftp://ann:%s@host/data",
		"https://b.s3.amazonaws.com/k?X-Amz-Credential=x&X-Amz-Signature=%s&X-Amz-Expires=60", "https://b.s3.amazonaws.com/k?AWSAccessKeyId=x&Expires=1&Signature=%s",
		"https://b.s3.amazonaws.com/k?X-Amz-Security-Token=%s", "https://storage.googleapis.com/b/k?X-Goog-Signature=%s",
		"https://a.blob.core.windows.net/c/k?sv=2024-01-01&sr=b&sig=%s", "https://host/api?api_key=%s&x=1", "https://host/api?access_token=%s#part",
		"https://host/login?next=https%%3A%%2F%%2Fann%%3A%s%%40inner%%2Fx",
	}
}

// texts have a secret, %s, as it is. A blank divides arguments, "~" is a blank
// within one.
func texts() []string {
	return []string{
		"--password %s", "--password=%s", "--token %s", "--token=%s", "--api-key %s", "--hub_token=%s", "--wandb-api-key %s",
		"API_KEY=%s", "OPENAI_KEY=%s", "AWS_SECRET_ACCESS_KEY=%s", "PGPASSWORD=%s", "-e~HF_TOKEN=%s", "--env=WANDB_API_KEY=%s",
		"-Dfs.s3a.secret.key=%s", "-Dapi.key=%s", "--conf spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net=%s", "db.password=%s", "trainer.logger.api_key=%s",
		"-H Authorization:~Bearer~%s", "-H Authorization:~Basic~%s", "--header=Authorization:~token~%s", "--header=Cookie:~sid=%s", "-H X-Api-Key:~%s",
		"curl -u ann:%s https://host", "curl -uann:%s https://host", "mysql -uann -p%s runs", "sshpass -p %s ssh host", "docker login -u ann -p %s", "redis-cli -a %s ping",
		"aws configure set aws_secret_access_key %s", "git -c http.extraHeader=AUTHORIZATION:~bearer~%s fetch", "wandb login %s",
		"sh -c export~TOKEN=%s;~python~train.py", "sh -c PASSWORD=\"%s\"~python~train.py", "sh -c python~train.py~--token~%s~--lr~0.1",
		"sh -c curl~-u~ann:%s~https://host", "sh -c mysql~-p%s~-e~'select~1'", "sh -c sshpass~-p~%s~ssh~host",
		`{"user":~"ann",~"password":~"%s",~"n":~1}`, `{"client_secret":"%s"}`, "{'auth_token':~'%s'}", "password:~%s", "<password>%s</password>",
		"host=db~user=ann~password=%s~dbname=runs", "Server=tcp:h;UID=ann;PWD=%s;Encrypt=yes", "AccountName=a;AccountKey=%s;EndpointSuffix=x", "ann:%s@tcp(db:3306)/runs",
		"jdbc:oracle:thin:ann/%s@//db:1521/x", "jdbc:postgresql://db/runs?user=ann&password=%s", "machine~host~login~ann~password~%s",
	}
}

// shaped puts a token where no name tells of it.
func shaped(random *rand.Rand, form string) Secret {
	token := fill(random, form)
	s := Secret{Args: []string{"train", token, "--data=" + token, "x:" + token}, Env: "TF_EXTRA=" + token, URL: "https://host/x?v=" + escape(token)}
	if strings.HasPrefix(token, "https:") {
		s.URL = token
	}
	parts := strings.FieldsFunc(token, func(r rune) bool { return r == ':' || r == '/' || r == '.' })
	for _, part := range parts {
		if len(part) >= 16 {
			s.Hidden = append(s.Hidden, part)
		}
	}
	return s
}

// password is what people or programs make.
func password(random *rand.Rand) string {
	return fill(random, []string{"{a24}", "{h40}", "{u43}", "{p18}"}[random.IntN(4)])
}

func inURL(random *rand.Rand, form string) Secret {
	secret := password(random)
	url := strings.ReplaceAll(strings.ReplaceAll(form, "%s", escape(secret)), "%%", "%")
	return Secret{Args: []string{"git", "clone", url, "--data=" + url}, Env: "TF_URL=" + url, URL: url, Hidden: []string{secret}}
}

func inText(random *rand.Rand, form string) Secret {
	secret := password(random)
	if strings.Contains(form, "jdbc:") || strings.Contains(form, "Basic") {
		secret = fill(random, "{a32}") // others would have to be escaped
	}
	args := strings.Fields(strings.ReplaceAll(form, "%s", secret))
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "~", " ")
	}
	return Secret{Args: args, Env: "TF_CMD=" + strings.Join(args, " "), Hidden: []string{secret}}
}

func privateKey(random *rand.Rand) Secret {
	lines := []string{fill(random, "MIIE{b60}"), fill(random, "{b64}"), fill(random, "{b20}==")}
	label := []string{"", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "}[random.IntN(5)]
	pem := "-----BEGIN " + label + "PRIVATE KEY-----\n" + strings.Join(lines, "\n") + "\n-----END " + label + "PRIVATE KEY-----\n"
	coded := base64.StdEncoding.EncodeToString([]byte(pem))
	return Secret{
		Args: []string{"deploy", pem, "--pem=" + pem, "--inline=" + coded}, Env: "TF_PEM=" + pem,
		URL: "https://host/x?v=" + escape(pem), Hidden: append(lines, coded[40:80]),
	}
}

func serviceAccount(random *rand.Rand) Secret {
	id, line := fill(random, "{h40}"), fill(random, "{b64}")
	text := `{"type": "service_account", "project_id": "p", "private_key_id": "` + id +
		`", "private_key": "-----BEGIN PRIVATE KEY-----\n` + line + `\n-----END PRIVATE KEY-----\n", "client_email": "a@p.iam.gserviceaccount.com"}`
	coded := base64.StdEncoding.EncodeToString([]byte(text))
	return Secret{Args: []string{"train", text, "--sa=" + text, coded}, Env: "TF_SA=" + text, Hidden: []string{id, line, coded[60:100]}}
}

func awsPair(random *rand.Rand) Secret {
	id, key := fill(random, "AKIA{A16}"), fill(random, "{b40}")
	return Secret{Args: []string{"mc", "alias", "set", "x", "https://host", id, key}, Hidden: []string{id, key}}
}
