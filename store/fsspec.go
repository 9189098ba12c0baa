package store

// Setting is one line of fsspec's configuration.
type Setting struct{ Key, Value string }

// FsspecConfig says how Python's fsspec reaches this store, in the keys of
// TorchX's fsspec tracker: protocol, root_path and what the protocol needs. It
// holds no secrets; those come from the environment of whoever uses it.
func (s *Store) FsspecConfig() []Setting {
	return []Setting{{"protocol", s.place.scheme}, {"root_path", s.place.url("")}}
}
