package timelines

import (
	"context"
	"fmt"

	"riverrun/timelines/mutants"
)

// Advance brings the cache to the clock a deciding statement returned. It costs
// a statement only when the clock moved.
func (c *AccessCache) Advance(ctx context.Context, clock Clock) error {
	if c.covers(clock) {
		return nil
	}
	select {
	case c.advancing <- struct{}{}:
		defer func() { <-c.advancing }()
	case <-ctx.Done():
		return fmt.Errorf("wait for the access log: %w", ctx.Err())
	}
	if c.covers(clock) {
		return nil
	}
	c.mu.Lock()
	label, labelled := c.label, c.labelled
	c.mu.Unlock()
	if !labelled || label.Epoch != clock.Epoch {
		c.dropAll(clock)
		return nil
	}
	rows, err := c.store.accessLog(ctx, label.N, clock.N)
	if err != nil {
		return err
	}
	if !whole(rows, label.N, clock.N) && !mutants.On(mutants.TrimmedLog) {
		c.dropAll(clock)
		return nil
	}
	if mutants.On(mutants.LateLabel) {
		if clock.N, _, err = c.store.AccessClock(ctx); err != nil {
			return err
		}
	}
	if mutants.On(mutants.NothingDropped) {
		rows = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rows {
		switch r.Kind {
		case logSession:
			if len(r.TokenHash) == len(Session{}) {
				c.sessions.Remove(Session(r.TokenHash))
			}
		case logViewer:
			c.sets.Remove(r.AccountID)
			c.asking.Remove(r.AccountID) // a ban withdraws requests
		case logLevel:
			c.levels.Remove(r.TimelineID)
			c.common = r.N
		case logAccount:
			c.accounts.Remove(r.AccountID)
			c.subfeeds.Remove(r.AccountID)
			c.common = r.N
		case logMembers:
			c.members.Remove(r.AccountID)
			c.asking.Remove(r.AccountID)
		}
	}
	c.drops++
	c.label = clock
	return nil
}

// whole reports whether rows are all of the log after one number up to another.
// Numbers have no gaps and each wrote a row, so a missing one says that the log
// was trimmed past the label: not always from its beginning, as rows carry the
// time their transaction began, which is not the order of numbers.
func whole(rows []logRow, after, upto int64) bool {
	for _, r := range rows {
		if r.N > after+1 {
			return false
		}
		after = r.N
	}
	return after == upto
}

func (c *AccessCache) covers(clock Clock) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.labelled && c.label.Epoch == clock.Epoch && c.label.N >= clock.N
}

func (c *AccessCache) dropAll(label Clock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets.Purge()
	c.sessions.Purge()
	c.levels.Purge()
	c.accounts.Purge()
	c.members.Purge()
	c.asking.Purge()
	c.subfeeds.Purge()
	c.drops++
	c.label, c.labelled, c.common = label, true, label.N
}

// Common returns the number of the last change, as far as the cache was brought, that
// may show on the pages of viewers whose Sets it left as they were: a level, or how an
// account or a sub-feed is called.
func (c *AccessCache) Common() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.common
}

// Epoch returns the epoch of the clock the cache was last brought to, 0 before that.
func (c *AccessCache) Epoch() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.label.Epoch
}

// Label returns the clock the cache was last brought to, and how many loads have
// ended: before that nobody is told what they read, be it through the cache. Whoever
// puts sets, levels and posts together finds by it whether they are of one moment (see
// rivers).
func (c *AccessCache) Label() (Clock, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.label, c.loads
}
