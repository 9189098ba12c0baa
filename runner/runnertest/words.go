package runnertest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// What is hard to hand on through shells and lists parted by commas.
func awkward() []string {
	return []string{
		"", " ", "a b", "a,b", "a=b,c", "a;b", "it's", `say "hi"`, `back\slash`, "$HOME", "`id`", "$(id)", "*", "~", "-n", "--x=y",
		"#", "!", "%j", "new\nline", "tab\there", "é ü 日本", "a:b", "[x]", "{y}", "&", "|", "<>", "trailing ",
	}
}

func wordsArrive(s *suite) {
	words := awkward()
	role := s.role("r", `for w; do printf '%s\0' "$w"; done > args; printf '%s\0' "$E_COMMA" "$E_QUOTE" "$E_LINE" "$E_DOLLAR" "$E_SPACE" > env`)
	for _, w := range words {
		role.Args = append(role.Args, runner.EscapeMacros(w))
	}
	role.Env = map[string]string{"E_COMMA": "a,B=c", "E_QUOTE": `it's "so"`, "E_LINE": "one\ntwo", "E_DOLLAR": "$$HOME `x`", "E_SPACE": " a  b "}
	s.check(s.result(app("words", role)), tracker.Succeeded, 0)
	if got := s.read("args"); got != strings.Join(words, "\x00")+"\x00" {
		s.t.Errorf("the arguments arrived as %q", strings.Split(got, "\x00"))
	}
	if got, want := s.read("env"), "a,B=c\x00it's \"so\"\x00one\ntwo\x00$HOME `x`\x00 a  b \x00"; got != want {
		s.t.Errorf("the environment arrived as %q, want %q", got, want)
	}
}

func surroundings(s *suite) {
	s.check(s.result(app("around", s.role("r", "pwd -P > where; cat > input"))), tracker.Succeeded, 0)
	want, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := strings.TrimSpace(s.read("where")); got != want {
		s.t.Errorf("it ran in %s, want %s", got, want)
	}
	if got := s.read("input"); got != "" {
		s.t.Errorf("its standard input held %q", got)
	}
}

func macros(s *suite) {
	role := s.role("r", `eval "rank0=\$$4"; echo "$1|$2|$5|$E|$TORCHX_JOB_ID" >> said; echo "$rank0" >> hosts; cd "$3"`,
		runner.MacroAppID, runner.MacroReplicaID, runner.MacroImgRoot, runner.MacroRank0Env, "$app_id $$app_id ${none}")
	role.NumReplicas = 2
	role.Env = map[string]string{"E": "<${replica_id}>"}
	role.Metadata = pyjson.NewObject(pyjson.Member{Key: "test.x", Value: "${app_id}"})
	h := s.run(app("macros", role))
	s.check(s.wait(h), tracker.Succeeded, 0)
	id := h.App
	want := []string{
		id + "|0|" + id + " $app_id ${none}|<0>|" + h.String(),
		id + "|1|" + id + " $app_id ${none}|<1>|" + h.String(),
	}
	if got := s.lines("said"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.t.Errorf("the replicas saw %q, want %q", got, want)
	}
	if hosts := s.lines("hosts"); len(hosts) != 2 || hosts[0] == "" || hosts[0] != hosts[1] {
		s.t.Errorf("the first replica's host is %q", hosts)
	}
}

// Three replicas of two roles meet: they run at the same time.
func severalRoles(s *suite) {
	meet := `touch "at-$1-$2"; while [ "$(ls | grep -c '^at-')" -lt 3 ]; do sleep 0.05; done; echo "$1 $2 met"`
	a := s.role("alpha", meet, "alpha", runner.MacroReplicaID)
	a.NumReplicas = 2
	b := s.role("beta", meet, "beta", runner.MacroReplicaID)
	h := s.run(app("several", a, b))
	status := s.wait(h)
	s.check(status, tracker.Succeeded, 0)
	if len(status.Roles) != 2 || status.Roles[0].Role != "alpha" || len(status.Roles[0].Replicas) != 2 ||
		status.Roles[1].Role != "beta" || len(status.Roles[1].Replicas) != 1 {
		s.t.Fatalf("the roles: %+v", status.Roles)
	}
	for _, role := range status.Roles {
		for i, r := range role.Replicas {
			if r.ID != i || r.Role != role.Role || r.State != tracker.Succeeded || r.Code() != 0 || r.Hostname == "" {
				s.t.Errorf("%s[%d]: %+v", role.Role, i, r)
			}
		}
	}
	if got := s.logs(h, runner.LogQuery{Role: "alpha", Replicas: []int{1}}); got != "alpha 1 met\n" {
		s.t.Errorf("the log of alpha[1] is %q", got)
	}
}

// A failure ends the app, and its code is the app's, though others were stopped.
func oneFails(s *suite) {
	long := s.role("long", "echo $$ > pid; "+"while :; do sleep 0.1; done")
	short := s.role("short", `while [ ! -e pid ]; do sleep 0.05; done; exit $(($1 * 9))`, runner.MacroReplicaID)
	short.NumReplicas = 2
	status := s.result(app("onefails", long, short))
	s.check(status, tracker.Failed, 9)
	if r := s.replica(status, "short", 1); r.State != tracker.Failed || r.Code() != 9 {
		s.t.Errorf("the one that failed: %+v", r)
	}
	if r := s.replica(status, "long", 0); r.State == tracker.Succeeded || !isDone(r.State) {
		s.t.Errorf("the one that ran: %+v", r)
	}
	s.noSurvivor("pid")
}

// badOptions are refused before anything is done, by names that say what there is.
func badOptions(s *suite) {
	request := s.request(app("bad", s.role("r", "touch ran")))
	request.Config = request.Config.Merge(runner.Config{"no_such_option": "1"})
	if _, err := s.r.Run(s.t.Context(), request); err == nil || !strings.Contains(err.Error(), "no_such_option") {
		s.t.Errorf("an unknown option: %v", err)
	}
	for _, a := range []runner.App{
		app("norole"), app("../up", s.role("r", "")), app("a\nb", s.role("r", "")), app("ok", s.role("../r", "")),
		app("ok", s.role("r", ""), s.role("r", "")), app("ok", runner.Role{Name: "r", NumReplicas: 1}), app("ok", runner.Role{Name: "r", Entrypoint: "sh"}),
	} {
		if _, err := s.r.Run(s.t.Context(), s.request(a)); err == nil {
			s.t.Errorf("%+v was run", a)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "ran")); err == nil {
		s.t.Error("it ran")
	}
}
