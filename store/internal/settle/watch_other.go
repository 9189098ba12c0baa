//go:build !linux

package settle

// watcher knows nothing where there is no inotify: stillness has to tell.
type watcher struct{}

func newWatcher(string) *watcher      { return &watcher{} }
func (*watcher) close() error         { return nil }
func (*watcher) add(string)           {}
func (*watcher) drain()               {}
func (*watcher) finished(string) bool { return false }
