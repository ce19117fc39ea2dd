package rivers

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"
)

// A build goes on for others when its visitor leaves, but it ends with the store: nothing
// is swapped in after Stop.
func TestStopEndsBuilds(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "a post")
	s := Open(w.db.Secondary, w.store, slog.New(slog.DiscardHandler), DefaultOptions())
	must(w, 0, s.Start(w.ctx))
	met, release := make(chan struct{}), make(chan struct{})
	left := make(chan error, 1)
	ctx, leave := context.WithCancel(pausedAt(w.ctx, afterSnapshot, func() {
		close(met)
		<-release
	}))
	go func() {
		_, err := s.Visit(ctx, ann, w.name(ann, Everything, ""), Cursor{})
		left <- err
	}()
	<-met
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the visitor who left: %v", err)
	}
	short, cancel := context.WithTimeout(w.ctx, time.Millisecond)
	defer cancel()
	if err := s.Stop(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a stop in no time: %v", err)
	}
	close(release)
	must(w, 0, s.Stop(w.ctx))
	if n := w.count(`SELECT count(*) FROM rivers WHERE state <> 'retired'`); n != 0 {
		t.Errorf("%d rivers after the end, want none", n)
	}
	if _, err := s.Visit(w.ctx, ann, w.name(ann, Everything, ""), Cursor{}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a visit after the end: %v", err)
	}
}
