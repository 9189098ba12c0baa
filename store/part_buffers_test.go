package store

import "testing"

// TestPartBuffers gives a second stream no more than one part once the first has taken what all may share.
func TestPartBuffers(t *testing.T) {
	var all streamBuffers
	const size = streamMemory / 3
	first := newPartBuffers(&all, size)
	for range 2 {
		if first.next(size) != nil {
			t.Fatal("a buffer that nobody gave back")
		}
	}
	second := newPartBuffers(&all, size)
	second.free <- make([]byte, 1)
	if got := second.next(size); len(got) != 1 {
		t.Error("the buffer that is free is not taken")
	}
	second.free <- make([]byte, 2)
	if got := second.next(size); len(got) != 2 || second.made != 1 {
		t.Errorf("the second stream has %d buffers, want it to wait for its only one", second.made)
	}
	first.release()
	if second.next(size) != nil || second.made != 2 {
		t.Error("room that was given back is not taken")
	}
	second.free <- nil
	second.free <- nil
	if second.next(2*size) != nil || second.made != 1 || all.held != 2*size {
		t.Errorf("longer parts: %d buffers, %d bytes are held, want one and %d", second.made, all.held, 2*size)
	}
	second.release()
	if all.held != 0 {
		t.Errorf("%d bytes are still held", all.held)
	}
}
