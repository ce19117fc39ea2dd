package blobs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// probeEvery is how long the answer of a probe stands.
	probeEvery = 3 * time.Second
	// probeTimeout is how long a probe may take before the store counts as silent.
	probeTimeout = 2 * time.Second
)

// ErrSilent says that the store did not answer a probe in time.
var ErrSilent = errors.New("the store of uploaded files does not answer")

// Health knows whether a store can be written. It may be asked often, by many at once: the store
// is probed once in a few seconds at most, and never while a probe is still under way.
type Health struct {
	store Store

	mu      sync.Mutex // guards the rest; not held while the store is probed
	probed  time.Time  // when last came to its end; zero: none has
	last    error
	running chan struct{} // closed at the end of the probe under way; nil: there is none
}

// NewHealth returns the health of a store, which was not probed yet.
func NewHealth(store Store) *Health {
	return &Health{store: store}
}

// Check returns nil if the store could be written a few seconds ago, or can be now.
func (h *Health) Check(ctx context.Context) error {
	h.mu.Lock()
	if h.running == nil && !h.probed.IsZero() && time.Since(h.probed) < probeEvery {
		defer h.mu.Unlock()
		return h.last
	}
	if h.running == nil {
		h.running = make(chan struct{})
		// Others wait for the same probe, so it is not ended with this caller's ctx. It ends
		// when the system answers; until then there is no other.
		go h.probe(context.WithoutCancel(ctx))
	}
	running := h.running
	h.mu.Unlock()
	timer := time.NewTimer(probeTimeout)
	defer timer.Stop()
	select {
	case <-running:
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.last
	case <-timer.C:
		return ErrSilent
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrSilent, ctx.Err())
	}
}

func (h *Health) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := h.store.Probe(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last, h.probed = err, time.Now()
	close(h.running)
	h.running = nil
}
