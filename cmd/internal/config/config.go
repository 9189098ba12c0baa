package config

// Input is all that settings are resolved from.
type Input struct {
	Flags   map[string]string // key → text, for the flags given on the line
	Environ []string          // "NAME=value"; an empty value counts as unset
	Dir     string            // the working directory, absolute
	// TrackerRoot reads the configuration file of TorchX's fsspec tracker; it is called at most once.
	TrackerRoot func(file string) (string, error)
}

// Config holds every setting with its origin.
type Config struct {
	values map[string]Value
	files  []string
	others []OtherTracker
}

// Load resolves flag, HEIRLOOM_*, TORCHX_*, project file, user's file, default, in that order.
// Store and tracker belong together: the nearest level that names either of them decides both.
// Errors: store.ErrInvalid naming the place, or what reading a file gave.
func Load(in Input) (*Config, error) {
	env := environment(in.Environ)
	found, err := findProject(in.Dir)
	if err != nil {
		return nil, err
	}
	c := &Config{values: map[string]Value{}}
	c.take(flagLayer(in))
	c.take(environLayer(in, env))
	for _, read := range []func() (layer, error){
		func() (layer, error) { return torchxLayer(in, env, !c.placed()) },
		func() (layer, error) { return projectLayer(found, env["HOME"]) },
		func() (layer, error) { return userLayer(env) },
	} {
		l, err := read()
		if err != nil {
			return nil, err
		}
		c.take(l)
	}
	c.take(defaultLayer(in, found))
	return c, c.check()
}

// placed reports that a level taken so far names the store or the tracker.
func (c *Config) placed() bool {
	return c.Get(Store).Text != "" || c.Get(Tracker).Text != ""
}

// take adds the values of a farther layer where nothing nearer is set.
func (c *Config) take(l layer) {
	if l.file != "" {
		c.files = append(c.files, l.file)
	}
	c.others = append(c.others, l.others...)
	placed := c.placed()
	for key, v := range l.values {
		if (key == Store || key == Tracker) && placed {
			continue
		}
		if v.Text != "" && c.values[key].Text == "" {
			c.values[key] = v
		}
	}
}

// check applies each setting's own rule and names the origin of what breaks it.
func (c *Config) check() error {
	for _, s := range settings() {
		v := c.values[s.key]
		if s.check == nil || v.Text == "" {
			continue
		}
		if err := s.check(v.Text); err != nil {
			return invalid("read %s from %s: %v", s.key, v.Origin, err)
		}
	}
	return nil
}

// Get returns the value of a key; an unset one has an empty Text.
func (c *Config) Get(key string) Value {
	if v, ok := c.values[key]; ok {
		return v
	}
	return Value{Key: key, Origin: Origin{Level: LevelDefault}}
}

// Values lists every setting in the order of the table, as it stands: redaction is the printer's.
func (c *Config) Values() []Value {
	var all []Value
	for _, s := range settings() {
		all = append(all, c.Get(s.key))
	}
	return all
}

// Others lists the trackers of TorchX that Tracker does not name, in their order; none where a flag or a HEIRLOOM_*
// variable names the place.
func (c *Config) Others() []OtherTracker { return c.others }

// Files lists the configuration files that were read, nearest first.
func (c *Config) Files() []string { return c.files }
