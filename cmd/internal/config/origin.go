package config

// Level says how near to the command a value was given; a lower level wins.
type Level int

// The levels, nearest first.
const (
	LevelFlag Level = iota
	LevelEnviron
	LevelTorchX
	LevelProject
	LevelUser
	LevelDefault
)

// String names the level in one word, as config explain prints it.
func (l Level) String() string {
	return [...]string{"flag", "environment", "torchx", "project", "user", "default"}[l]
}

// Origin is where a value came from: its level, and there the flag, variable, file or directory.
type Origin struct {
	Level Level
	Place string // "--store", "HEIRLOOM_STORE", "/work/heirloom.toml"; "" for a default
}

// String reads "flag --store", "environment HEIRLOOM_STORE" or "default".
func (o Origin) String() string {
	if o.Place == "" {
		return o.Level.String()
	}
	return o.Level.String() + " " + o.Place
}

// Value is one resolved setting. An unset one has an empty Text and the origin default.
type Value struct {
	Key    string
	Text   string
	Origin Origin
}
