package rivers

import (
	"log/slog"
	"testing"
)

// An expiry goes through the rivers once, however many kinds there are.
func TestExpireLooksOnceForAllKinds(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.visit(ann, Home, "")
	pool, asked := counted(t, w.db.SecondaryURL)
	s := Open(pool, w.store, slog.New(slog.DiscardHandler), DefaultOptions())
	if gone, err := s.Expire(w.ctx); err != nil || gone != (Expired{}) {
		t.Fatalf("expired %+v, %v, want nothing", gone, err)
	}
	if got, kinds := asked.n.Load(), int64(len(Kinds())); got >= kinds {
		t.Errorf("%d statements to expire nothing, with %d kinds", got, kinds)
	}
}
