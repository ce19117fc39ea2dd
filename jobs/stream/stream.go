// Package stream sends the log of changes to NATS JetStream (row G8 of source document 002), for the programs of whoever runs the
// site: they get all changes, with the posts as they are, whoever may read them.
//
// A batch is the changes after the cursor, in the order of the log, of each post at most one. It is published, all
// its acknowledgements are awaited, and then the cursor moves. So each change is sent at least once, and those of one post
// stay in order. The message id is that of the change, by which JetStream drops what comes twice.
package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"riverrun/rivers/lines"
)

const (
	// Stream is the name of the stream, and subject the beginning of its subjects: riverrun.changes.post and so on.
	Stream  = "RIVERRUN"
	subject = "riverrun.changes"
	// batch is how many changes are looked through at a time.
	batch = 500
	// kept is how long the stream keeps messages, and knows ids, if it is made here.
	kept       = 7 * 24 * time.Hour
	duplicates = 10 * time.Minute
	// ackTimeout is how long one acknowledgement is awaited: a connection that breaks loses some. batchTimeout bounds one batch.
	ackTimeout   = 5 * time.Second
	batchTimeout = 30 * time.Second
	// every is how often the log is looked at, and pause how long an error is waited out.
	every = time.Second
	pause = 2 * time.Second
)

// Lines makes the lines of the log; *lines.Log has it.
type Lines interface {
	ReadOn(ctx context.Context, by lines.Reader, after int64, limit int) (found []lines.Line, upTo int64, err error)
}

// Sender sends the log. One of several nodes sends at a time.
type Sender struct {
	pool  *pgxpool.Pool
	lines Lines
	log   *slog.Logger
	conn  *nats.Conn
	js    jetstream.JetStream

	cancel context.CancelFunc
	done   chan struct{}
}

// Open returns a sender to a server of NATS, as in nats://host:4222. The server may be away: it is tried again and again.
func Open(url string, pool *pgxpool.Pool, l Lines, log *slog.Logger) (*Sender, error) {
	conn, err := nats.Connect(url, nats.Name("riverrun"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(pause))
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncTimeout(ackTimeout))
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return &Sender{pool: pool, lines: l, log: log, conn: conn, js: js}, nil
}

// Start sends until Stop.
func (s *Sender) Start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		for failed := 0; ctx.Err() == nil; {
			more, err := s.batch(ctx)
			wait := every
			switch {
			case err == nil && more:
				failed, wait = 0, 0
			case err == nil:
				failed = 0
			case ctx.Err() == nil:
				wait = pause
				if failed++; failed&(failed-1) == 0 { // seldom: a server may be away for hours
					s.log.WarnContext(ctx, "changes are not sent to NATS", "tries", failed, "error", err)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
	}()
}

// Stop ends the sending. It may be called without Start.
func (s *Sender) Stop() {
	if s.cancel != nil {
		s.cancel()
		<-s.done
	}
	s.conn.Close()
}

// batch sends one batch, and reports whether there may be more. It sends nothing while another node does.
func (s *Sender) batch(ctx context.Context) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	// The lock is the connection's: no transaction stands open while a server elsewhere answers, and a node that dies lets it go.
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("send changes: %w", err)
	}
	defer conn.Release()
	const lock = `SELECT pg_try_advisory_lock(hashtextextended('streams', 0))`
	var mine bool
	if err := conn.QueryRow(ctx, lock).Scan(&mine); err != nil || !mine {
		return false, err
	}
	defer func() {
		const unlock = `SELECT pg_advisory_unlock(hashtextextended('streams', 0))`
		if _, uerr := conn.Exec(context.WithoutCancel(ctx), unlock); uerr != nil {
			err = errors.Join(err, uerr, conn.Conn().Close(context.WithoutCancel(ctx)))
		}
	}()
	if more, err = s.send(ctx, conn); err != nil {
		return false, fmt.Errorf("send changes: %w", err)
	}
	return more, nil
}

// send is batch under the lock.
func (s *Sender) send(ctx context.Context, conn *pgxpool.Conn) (more bool, err error) {
	const begin = `
		WITH begun AS (
			INSERT INTO streams (name, seq) SELECT @name, seq FROM changes_head
			WHERE NOT EXISTS (SELECT FROM streams WHERE name = @name) RETURNING seq)
		SELECT seq FROM streams WHERE name = @name UNION ALL SELECT seq FROM begun`
	var after int64
	if err := conn.QueryRow(ctx, begin, pgx.StrictNamedArgs{"name": Stream}).Scan(&after); err != nil {
		return false, err
	}
	list, upTo, err := s.lines.ReadOn(ctx, lines.Reader{Operator: true}, after, batch)
	if err != nil || upTo == after {
		return false, err
	}
	if err := s.publish(ctx, list); err != nil {
		return false, err
	}
	const move = `UPDATE streams SET seq = @seq WHERE name = @name`
	_, err = conn.Exec(ctx, move, pgx.StrictNamedArgs{"name": Stream, "seq": upTo})
	return err == nil, err
}

// publish publishes lines and waits for all acknowledgements.
func (s *Sender) publish(ctx context.Context, list []lines.Line) error {
	if len(list) == 0 {
		return nil
	}
	err := s.ensure(ctx)
	if err != nil {
		return err
	}
	acks := make([]jetstream.PubAckFuture, len(list))
	for i, l := range list {
		m := &nats.Msg{Subject: subject + "." + l.Kind, Header: nats.Header{}}
		if m.Data, err = json.Marshal(l); err != nil {
			return err
		}
		id := l.ID
		if id == "" { // of a gap
			id = l.Kind + ":" + l.Seq
		}
		m.Header.Set(jetstream.MsgIDHeader, id)
		if acks[i], err = s.js.PublishMsgAsync(m); err != nil {
			return err
		}
	}
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ensure makes the stream if there is none. One that is there stays as its operator set it.
func (s *Sender) ensure(ctx context.Context) error {
	_, err := s.js.Stream(ctx, Stream)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	_, err = s.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: Stream, Subjects: []string{subject + ".>"}, MaxAge: kept, Duplicates: duplicates,
	})
	return err
}
