package store

import "testing"

// TestPartBuffers gives a second stream no more than one part once the first has taken what all may share.
func TestPartBuffers(t *testing.T) {
	var all streamBuffers
	size := streamMemory / 2
	first := partBuffers{all: &all, size: size, made: 1, free: make(chan []byte, streamParts)}
	for range 2 {
		if first.next() != nil {
			t.Fatal("a buffer that nobody gave back")
		}
	}
	second := partBuffers{all: &all, size: size, made: 1, free: make(chan []byte, streamParts)}
	second.free <- make([]byte, 1)
	if got := second.next(); len(got) != 1 || second.made != 1 {
		t.Errorf("the second stream has %d buffers, want to wait for its only one", second.made)
	}
	if all.take(1) {
		t.Error("there is room beyond the bound")
	}
	first.release()
	if second.next() != nil || second.made != 2 {
		t.Error("room that was given back is not taken")
	}
	second.release()
	if all.held != 0 {
		t.Errorf("%d bytes are still held", all.held)
	}
}
