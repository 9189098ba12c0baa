package localblob

import (
	"bytes"
	"io"
	"io/fs"
	"os"
)

const (
	// Files of fewer bytes are read whole each time.
	lineSetMin = 4 << 10
	// How many bytes of files a bucket remembers the lines of.
	lineSetsMax = 16 << 20
)

// lineSet is what a file of lines holds. A file that many processes append to is thus read once by each of them and not
// once for each line, which would cost the square of its lines.
type lineSet struct {
	info  fs.FileInfo      // of the file; nil before the first read
	size  int64            // bytes, up to the end of the last line that has one
	tail  []byte           // the last bytes of those, to tell whether the file is still the same
	lines map[string]int64 // that have an end, and where the first of each ends
	open  []byte           // what follows the last end of line
	// flushed is up to where this process knows the file to be on disk.
	flushed int64
}

// newLineSet reads body.
func newLineSet(body []byte) *lineSet {
	s := &lineSet{lines: map[string]int64{}}
	s.add(body)
	return s
}

// add reads what follows the first size bytes of the file.
func (s *lineSet) add(body []byte) {
	ended := body[:bytes.LastIndexByte(body, '\n')+1]
	end := s.size
	for line := range bytes.Lines(ended) {
		end += int64(len(line))
		if text := string(line[:len(line)-1]); s.lines[text] == 0 {
			s.lines[text] = end
		}
	}
	s.size += int64(len(ended))
	s.tail = append(s.tail, ended[max(0, len(ended)-lineSetMin):]...)
	s.tail = bytes.Clone(s.tail[max(0, len(s.tail)-lineSetMin):])
	s.open = bytes.Clone(body[len(ended):])
}

// missing returns what to append, each with one write, so that the file has all of lines. Empty lines count.
func (s *lineSet) missing(lines []string) [][]byte {
	var adds [][]byte
	if len(s.open) > 0 {
		adds = append(adds, []byte("\n"))
	}
	taken := map[string]bool{string(s.open): len(s.open) > 0}
	for _, line := range lines {
		if s.lines[line] == 0 && !taken[line] {
			taken[line] = true
			adds = append(adds, []byte(line+"\n"))
		}
	}
	return adds
}

// kept says whether all of lines are known to be on disk.
func (s *lineSet) kept(lines []string) bool {
	for _, line := range lines {
		if end := s.lines[line]; end == 0 || end > s.flushed {
			return false
		}
	}
	return true
}

// holds says whether the file still begins with what was read: others only append to it, but TorchX may have truncated
// it, and others have appended since.
func (s *lineSet) holds(f *os.File, info fs.FileInfo) bool {
	if s.info == nil || !os.SameFile(s.info, info) || info.Size() < s.size {
		return false
	}
	tail := make([]byte, len(s.tail))
	_, err := f.ReadAt(tail, s.size-int64(len(tail)))
	return err == nil && bytes.Equal(tail, s.tail)
}

// readLines brings what is known of the file at p up to date. The caller has the turn and the lock of it.
func (b *Bucket) readLines(f *os.File, p string) (*lineSet, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	s := b.lineSets[p]
	b.mu.Unlock()
	if s == nil || !s.holds(f, info) {
		s = newLineSet(nil)
	}
	body, err := io.ReadAll(io.NewSectionReader(f, s.size, info.Size()-s.size))
	if err != nil {
		return nil, err
	}
	s.add(body)
	s.info = info
	b.remember(p, s)
	return s, nil
}

// remember keeps s for the next time, if it is worth it.
func (b *Bucket) remember(p string, s *lineSet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.size < lineSetMin || s.size > lineSetsMax {
		delete(b.lineSets, p)
		return
	}
	b.lineSets[p] = s
	sum := int64(0)
	for _, other := range b.lineSets {
		sum += other.size
	}
	if sum > lineSetsMax {
		b.lineSets = map[string]*lineSet{p: s}
	}
}
