package servers

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// SlowLink listens on an address, which it returns as host:port, and hands every
// connection on to target until the test ends. What passes is late by half of
// delay each way, and a connection carries at most rate bytes per second each
// way.
func SlowLink(t testing.TB, target string, delay time.Duration, rate int) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	link := &slowLink{target: target, delay: delay / 2, rate: rate}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { link.carry(ctx, near) })
		}
	})
	t.Cleanup(func() {
		cancel()
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

type slowLink struct {
	target string
	delay  time.Duration // one way
	rate   int           // bytes per second
}

// carry serves one connection to its end.
func (l *slowLink) carry(ctx context.Context, near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer far.Close()
	stop := context.AfterFunc(ctx, func() { near.Close(); far.Close() })
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { l.pass(far, near) })
	wg.Go(func() { l.pass(near, far) })
	wg.Wait()
}

// packet is some bytes that are on their way.
type packet struct {
	body []byte
	due  time.Time
}

// pass carries one direction, and its end.
func (l *slowLink) pass(to, from net.Conn) {
	under := make(chan packet, 64)
	go func() {
		defer close(under)
		free := time.Now() // when the link can take the next byte
		for {
			body := make([]byte, 16<<10)
			n, err := from.Read(body)
			if n > 0 {
				now := time.Now()
				if free.Before(now) {
					free = now
				}
				free = free.Add(time.Duration(n) * time.Second / time.Duration(l.rate))
				under <- packet{body[:n], free.Add(l.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range under {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.body); err != nil {
			from.Close() // which ends the reader
		}
	}
	if c, ok := to.(*net.TCPConn); ok {
		_ = c.CloseWrite() // fails where the connection has ended as a whole
	}
}
