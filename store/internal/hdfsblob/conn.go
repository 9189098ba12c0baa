package hdfsblob

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"time"
)

// guard holds the connections of one client, so that a request of which the library knows no cancellation can be
// ended by closing them, and none outlives its client. The library also lets a connection go where a DataNode
// refuses a request; those are closed when the client is given back.
type guard struct {
	timeout time.Duration // for dialing, and for each read or write to make progress
	sync    bool          // blocks are asked to be on disk; set before anything is written

	mu    sync.Mutex
	conns map[*conn]bool // guarded by mu; the open ones
	ended error          // guarded by mu; why there are no more connections
	fault error          // guarded by mu; the last error of a connection to a NameNode, which is then not used again
	dials error          // guarded by mu; why the last dial failed
	last  string         // guarded by mu; the NameNode that was dialed last
	web   error          // guarded by mu; that what was dialed is no NameNode but a web server
}

// conn ends a read or write that makes no progress. The deadlines that the library sets, or rather clears, are
// passed over.
type conn struct {
	net.Conn
	guard   *guard
	data    bool // to a DataNode
	writing bool // a block, packet by packet
	heard   bool // something from the other side
}

func (g *guard) dialName(ctx context.Context, network, addr string) (net.Conn, error) {
	g.mu.Lock()
	g.last = addr
	g.mu.Unlock()
	return g.dial(ctx, network, addr, false)
}

func (g *guard) dialData(ctx context.Context, network, addr string) (net.Conn, error) {
	return g.dial(ctx, network, addr, true)
}

func (g *guard) dial(ctx context.Context, network, addr string, data bool) (net.Conn, error) {
	if err := g.end(); err != nil {
		return nil, err
	}
	c, err := (&net.Dialer{Timeout: g.timeout}).DialContext(ctx, network, addr)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil && g.ended != nil {
		c.Close()
		err = g.ended
	}
	if err != nil {
		g.dials = err
		return nil, err
	}
	guarded := &conn{Conn: c, guard: g, data: data}
	g.conns[guarded] = true
	return guarded, nil
}

// close ends all connections, and refuses new ones, for that reason.
func (g *guard) close(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended == nil {
		g.ended = reason
	}
	for c := range g.conns {
		c.Conn.Close()
	}
	clear(g.conns)
}

// closeData ends the connections to DataNodes.
func (g *guard) closeData() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		if c.data {
			c.Conn.Close()
			delete(g.conns, c)
		}
	}
}

func (g *guard) end() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}

// state tells the last NameNode, and what went wrong with a connection.
func (g *guard) state() (last string, fault, dials error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last, g.fault, g.dials
}

func (g *guard) failed(c *conn, err error) {
	if err == nil || c.data {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = err
}

func (c *conn) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.guard.timeout)); err != nil {
		c.guard.failed(c, err)
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if err == nil && !c.data && !c.heard {
		c.heard = true
		err = c.guard.checkRPC(p[:n], c.RemoteAddr())
	}
	c.guard.failed(c, err)
	return n, err
}

// checkRPC looks at the first bytes of an answer. A web server's would be taken for a message of more than a gigabyte.
func (g *guard) checkRPC(p []byte, from net.Addr) error {
	if !bytes.HasPrefix([]byte("HTTP"), p) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.web = fmt.Errorf("%s is the port of a web server, not that for the requests of a NameNode (dfs.namenode.rpc-address, often 8020 or 9000): %w", from, fs.ErrInvalid)
	return g.web
}

func (g *guard) webServer() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.web
}

func (c *conn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.guard.timeout)); err != nil {
		c.guard.failed(c, err)
		return 0, err
	}
	n := len(p)
	if c.data && c.guard.sync {
		p = c.synced(p)
	}
	sent, err := c.Conn.Write(p)
	c.guard.failed(c, err)
	if err != nil {
		return min(n, sent), err
	}
	return n, nil
}

func (c *conn) Close() error {
	c.guard.mu.Lock()
	delete(c.guard.conns, c)
	c.guard.mu.Unlock()
	return c.Conn.Close()
}

func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
