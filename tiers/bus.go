package tiers

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/timelines/reads"
)

// Message tells every node's hub that something changed. It says where to look and
// carries no content. Any message may be lost or doubled.
type Message struct {
	// Posts whose fold or entries changed.
	Posts []int64 `json:"p,omitempty"`
	// Swapped names have a new generation.
	Swapped []rivers.Name `json:"s,omitempty"`
	// At is when the oldest of the changes was committed, in microseconds, 0 if that is not
	// known. It serves to measure how long changes take to reach browsers.
	At int64 `json:"t,omitempty"`
	// Clock: the access clock reached at least this.
	Clock int64 `json:"c,omitempty"`
	// Seen are marks of how far people have read. They never become All: what is lost of them
	// is read again.
	Seen []reads.Mark `json:"r,omitempty"`
	// All: messages were lost; every open page is to be compared with its river.
	All bool `json:"a,omitempty"`
}

func (m Message) empty() bool {
	return len(m.Posts) == 0 && len(m.Swapped) == 0 && m.Clock == 0 && len(m.Seen) == 0 && !m.All
}

// Bus carries messages to all nodes by LISTEN and NOTIFY of the secondary store. There a
// commit waits for no disk, and NOTIFY's global lock hinders nobody. A message is never
// part of a change's own transaction.
//
// A node's own listeners hear a message at once, those of other nodes through the server.
// While one notification is on its way, and for a moment after it, further messages gather and go
// together. If they are more than one payload holds, they become All. After a lost connection is back, this
// node's listeners hear All.
type Bus struct {
	pool *pgxpool.Pool
	node string
	log  *slog.Logger
	// quiet is how long the connection may be silent before it is pinged: a connection can
	// die without notice. Tests set it lower.
	quiet time.Duration
	// pause is the least time between two notifications. Tests set it higher.
	pause time.Duration

	// mu guards what follows.
	mu        sync.Mutex
	listeners map[int]func(Message)
	nextID    int
	pending   Message
	wake      chan struct{}

	quit context.CancelFunc
	wg   sync.WaitGroup
}

const (
	channel = "riverrun"
	// maxPayload stays under NOTIFY's limit of 8,000 bytes.
	maxPayload = 7500
	// seenAtOnce is how many marks of Message.Seen one payload holds, and maxSeen how many wait.
	seenAtOnce = 100
	maxSeen    = 5000
	// busTimeout bounds each statement of the bus: a connection can die without notice.
	busTimeout = 5 * time.Second
)

type payload struct {
	Node string `json:"n"`
	Message
}

// NewBus returns a bus that is not connected yet: published messages reach
// this process's own listeners only.
func NewBus(pool *pgxpool.Pool, node string, log *slog.Logger) *Bus {
	return &Bus{pool: pool, node: node, log: log, quiet: 10 * time.Second, pause: 10 * time.Millisecond, listeners: map[int]func(Message){}, wake: make(chan struct{}, 1)}
}

// Subscribe calls fn for every message until cancel is called. fn must be quick, must not
// block and must not publish.
func (b *Bus) Subscribe(fn func(Message)) (cancel func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := b.nextID
	b.nextID++
	b.listeners[id] = fn
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, id)
	}
}

// Publish tells this node's listeners at once and the other nodes soon. It never
// blocks.
func (b *Bus) Publish(m Message) {
	if m.empty() {
		return
	}
	b.deliver(m)
	b.repeat(m)
}

// gather adds a message to the next notification.
func (b *Bus) gather(m Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending.Posts = append(b.pending.Posts, m.Posts...)
	b.pending.Swapped = append(b.pending.Swapped, m.Swapped...)
	b.pending.Seen = append(b.pending.Seen, m.Seen...)
	b.pending.Clock = max(b.pending.Clock, m.Clock)
	if m.At != 0 && (b.pending.At == 0 || m.At < b.pending.At) {
		b.pending.At = m.At
	}
	b.pending.All = b.pending.All || m.All
	// Far beyond a payload there is no need to remember more.
	if len(b.pending.Posts) > maxPayload || len(b.pending.Swapped) > maxPayload {
		b.pending = Message{All: true, Clock: b.pending.Clock, Seen: b.pending.Seen}
	}
	if over := len(b.pending.Seen) - maxSeen; over > 0 {
		b.pending.Seen = b.pending.Seen[over:]
	}
}

func (b *Bus) deliver(m Message) {
	b.mu.Lock()
	fns := make([]func(Message), 0, len(b.listeners))
	for _, fn := range b.listeners {
		fns = append(fns, fn)
	}
	b.mu.Unlock()
	for _, fn := range fns {
		fn(m)
	}
}

// repeat tells the other nodes once more, as what they were told may be lost.
func (b *Bus) repeat(m Message) {
	b.gather(m)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Start connects the bus. It returns once it listens.
func (b *Bus) Start(ctx context.Context) error {
	conn, err := b.listen(ctx)
	if err != nil {
		return err
	}
	ctx, b.quit = context.WithCancel(context.WithoutCancel(ctx))
	b.wg.Go(func() { b.hear(ctx, conn) })
	b.wg.Go(func() { b.speak(ctx) })
	return nil
}

// Stop disconnects the bus, waits for its goroutines, and sends the messages that still wait,
// as far as ctx allows.
func (b *Bus) Stop(ctx context.Context) error {
	if b.quit == nil {
		return nil
	}
	b.quit()
	b.wg.Wait()
	return b.send(ctx)
}

func (b *Bus) listen(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	// A connection of its own: it is busy listening all its life.
	conn, err := pgx.ConnectConfig(ctx, b.pool.Config().ConnConfig.Copy())
	if err != nil {
		return nil, fmt.Errorf("connect bus: %w", err)
	}
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		_ = conn.Close(ctx) // the first error is the one to tell
		return nil, fmt.Errorf("listen on bus: %w", err)
	}
	return conn, nil
}

func (b *Bus) hear(ctx context.Context, conn *pgx.Conn) {
	for {
		err := b.receive(ctx, conn)
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		_ = conn.Close(closing) // it is broken, or no longer wanted
		cancel()
		if ctx.Err() != nil {
			return
		}
		b.log.WarnContext(ctx, "bus connection lost", "error", err)
		if conn = b.reconnect(ctx); conn == nil {
			return
		}
		b.deliver(Message{All: true})
	}
}

// reconnect tries until it listens again; nil when ctx ended first.
func (b *Bus) reconnect(ctx context.Context) *pgx.Conn {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		timer := time.NewTimer(wait/2 + rand.N(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		conn, err := b.listen(ctx)
		if err == nil {
			b.log.InfoContext(ctx, "bus connected again")
			return conn
		}
		if ctx.Err() == nil {
			b.log.WarnContext(ctx, "bus not reachable", "error", err)
		}
	}
}

func (b *Bus) receive(ctx context.Context, conn *pgx.Conn) error {
	for {
		within, cancel := context.WithTimeout(ctx, b.quiet)
		n, err := conn.WaitForNotification(within)
		quiet := within.Err() != nil && ctx.Err() == nil
		cancel()
		if err != nil && quiet {
			// Nothing came: the others are silent, or the connection is dead.
			err = b.ping(ctx, conn)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		var p payload
		if err := json.Unmarshal([]byte(n.Payload), &p); err != nil {
			b.log.WarnContext(ctx, "unreadable message on the bus", "error", err)
			b.deliver(Message{All: true})
			continue
		}
		if p.Node != b.node {
			b.deliver(p.Message)
		}
	}
}

func (b *Bus) ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	return conn.Ping(ctx)
}

func (b *Bus) speak(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		if err := b.send(ctx); err != nil && ctx.Err() == nil {
			// Other nodes find the change when they next compare their pages with the rivers.
			b.log.WarnContext(ctx, "bus message not sent", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(b.pause):
		}
	}
}

// send notifies the other nodes of the messages that gathered. Messages that could not be
// sent go with the next notification. Stop interrupts one that is on its way, and then
// sends it itself.
func (b *Bus) send(ctx context.Context) error {
	b.mu.Lock()
	m := b.pending
	b.pending = Message{}
	b.mu.Unlock()
	if m.empty() {
		return nil
	}
	seen := m.Seen
	m.Seen = nil
	if !m.empty() {
		if err := b.notify(ctx, m); err != nil {
			m.Seen = seen
			b.gather(m)
			return err
		}
	}
	for len(seen) > 0 {
		n := min(len(seen), seenAtOnce)
		if err := b.notify(ctx, Message{Seen: seen[:n]}); err != nil {
			b.gather(Message{Seen: seen})
			return err
		}
		seen = seen[n:]
	}
	return nil
}

// notify sends one notification. A message that does not fit becomes All.
func (b *Bus) notify(ctx context.Context, m Message) error {
	doc, err := json.Marshal(payload{Node: b.node, Message: m})
	if err == nil && len(doc) > maxPayload {
		doc, err = json.Marshal(payload{Node: b.node, Message: Message{All: true, Clock: m.Clock}})
	}
	if err != nil {
		return fmt.Errorf("encode bus message: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	if _, err := b.pool.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, string(doc)); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}
