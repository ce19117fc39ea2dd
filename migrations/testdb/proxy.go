package testdb

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Proxy stands between a pool and its server, and can fall silent as a network does that
// drops every packet: nothing is forwarded, nothing is closed, and connections that are
// made meanwhile are accepted and hear nothing.
type Proxy struct {
	// URL is that of the database, through the proxy.
	URL string

	t        testing.TB
	listener net.Listener
	network  string // of the server
	address  string

	// mu guards the fields below.
	mu    sync.Mutex
	flows chan struct{} // closed while the proxy forwards
	made  chan struct{} // receives while it does not, for a connection made
	open  map[net.Conn]struct{}
}

// NewProxy puts a proxy in front of the database of that pool.
func NewProxy(t testing.TB, pool *pgxpool.Pool) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{t: t, listener: listener, flows: make(chan struct{}), made: make(chan struct{}, 1), open: map[net.Conn]struct{}{}}
	close(p.flows)
	cfg := pool.Config().ConnConfig
	p.network, p.address = pgconn.NetworkAddress(cfg.Host, cfg.Port)
	u := url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: listener.Addr().String(), Path: "/" + cfg.Database}
	p.URL = u.String() + "?sslmode=disable"
	var serving sync.WaitGroup
	serving.Go(p.accept)
	t.Cleanup(func() {
		listener.Close()
		p.Cut()
		p.Open()
		serving.Wait()
	})
	return p
}

// Pool returns a pool of this many connections that go through the proxy.
func (p *Proxy) Pool(connections int) *pgxpool.Pool {
	p.t.Helper()
	cfg, err := pgxpool.ParseConfig(p.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	cfg.MaxConns = int32(connections)
	cfg.ConnConfig.ConnectTimeout = time.Second
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(pool.Close)
	return pool
}

// Shut makes the proxy silent, Open lets it forward again, what waited first.
func (p *Proxy) Shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flows = make(chan struct{})
}

// Open undoes Shut.
func (p *Proxy) Open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flows:
	default:
		close(p.flows)
	}
}

// Made receives when a connection is made to a silent proxy.
func (p *Proxy) Made() <-chan struct{} { return p.made }

// Cut closes every connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
	}
}

func (p *Proxy) accept() {
	var forwarding sync.WaitGroup
	defer forwarding.Wait()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial(p.network, p.address)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = struct{}{}, struct{}{}
		select {
		case <-p.flows:
		default:
			select {
			case p.made <- struct{}{}:
			default:
			}
		}
		p.mu.Unlock()
		forwarding.Go(func() { p.forward(client, server) })
		forwarding.Go(func() { p.forward(server, client) })
	}
}

// forward carries what from says to to, until one of the two is closed. A silent proxy
// does not pass on that one was closed either.
func (p *Proxy) forward(from, to net.Conn) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		from.Close()
		to.Close()
		delete(p.open, from)
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		flows := p.flows
		p.mu.Unlock()
		<-flows
		if _, writeErr := to.Write(buffer[:n]); writeErr != nil || err != nil {
			return
		}
	}
}
