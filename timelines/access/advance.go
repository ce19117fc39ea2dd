package access

import (
	"context"
	"fmt"

	"riverrun/timelines"
)

// Advance brings the cache to the clock a deciding statement returned. It costs
// a statement only when the clock moved.
func (c *Cache) Advance(ctx context.Context, clock timelines.Clock) error {
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
	rows, err := c.readLog(ctx, label.N, clock.N)
	if err != nil {
		return err
	}
	if !isComplete(rows, label.N, clock.N) {
		c.dropAll(clock)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rows {
		c.drop(r)
	}
	c.drops++
	c.label = clock
	return nil
}

// drop drops what a row of the log invalidates. mu must be held.
func (c *Cache) drop(r timelines.Invalidation) {
	switch r.Kind {
	case timelines.InvalidSession:
		if len(r.TokenHash) == len(timelines.Session{}) {
			c.sessions.kept.Remove(timelines.Session(r.TokenHash))
		}
	case timelines.InvalidSets:
		c.sets.kept.Remove(r.AccountID)
		c.following.kept.Remove(r.AccountID)
		c.requests.kept.Remove(r.AccountID) // a ban withdraws requests
		c.arrivals.kept.Remove(r.AccountID)
	case timelines.InvalidLevel:
		c.levels.kept.Remove(r.TimelineID)
		c.common = r.N
	case timelines.InvalidAccount:
		c.byID.kept.Remove(r.AccountID)
		c.subfeeds.kept.Remove(r.AccountID)
		c.readers.kept.Remove(r.AccountID)
		c.common = r.N
	case timelines.InvalidCounts:
		c.followers.kept.Remove(r.AccountID)
		c.readers.kept.Remove(r.AccountID)
		c.requests.kept.Remove(r.AccountID)
		c.arrivals.kept.Remove(r.AccountID)
		c.alerts.kept.Remove(r.AccountID)
		c.counts = r.N
	case timelines.InvalidUnseen:
		c.unseen.kept.Purge()
		c.sets.kept.Purge() // each has the list
		c.requests.kept.Purge()
		c.alerts.kept.Purge() // posts of somebody who is unseen wait for nobody
		c.common = r.N
	case timelines.InvalidSite:
		c.site.kept.Purge()
		c.common = r.N
	}
}

// isComplete reports whether rows are all of the log after one number up to another.
// Numbers have no gaps and each wrote a row, so a missing one says that the log
// was trimmed past the label: not always from its beginning, as rows carry the
// time their transaction began, which is not the order of numbers.
func isComplete(rows []timelines.Invalidation, after, upto int64) bool {
	for _, r := range rows {
		if r.N > after+1 {
			return false
		}
		after = r.N
	}
	return after == upto
}

func (c *Cache) covers(clock timelines.Clock) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.labelled && c.label.Epoch == clock.Epoch && c.label.N >= clock.N
}

// dropAll drops everything that can change, and takes the label. In another epoch an id or a
// name may be that of something else, so there it drops all.
func (c *Cache) dropAll(label timelines.Clock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions.kept.Purge()
	c.sets.kept.Purge()
	c.levels.kept.Purge()
	c.byID.kept.Purge()
	c.subfeeds.kept.Purge()
	c.followers.kept.Purge()
	c.readers.kept.Purge()
	c.following.kept.Purge()
	c.requests.kept.Purge()
	c.arrivals.kept.Purge()
	c.alerts.kept.Purge()
	c.unseen.kept.Purge()
	c.site.kept.Purge()
	if c.label.Epoch != label.Epoch {
		c.timelines.kept.Purge()
		c.ids.kept.Purge()
	}
	c.drops++
	c.label, c.labelled, c.common, c.counts = label, true, label.N, label.N
}

// Common returns the number of the last change, as far as the cache was brought, that
// may show on the pages of viewers whose Sets it left as they were: a level, or the name of
// an account or a sub-feed.
func (c *Cache) Common() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.common
}

// Counts returns the number of the last change, as far as the cache was brought, of who follows
// an account or asks to, or of the alerts of its sources.
func (c *Cache) Counts() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// Epoch returns the epoch of the clock the cache was last brought to, 0 before that.
func (c *Cache) Epoch() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.label.Epoch
}

// Label returns the clock the cache was last brought to, and how many loads have ended
// of what decides or names something. A load counts before its caller learns what it
// read, so a caller that puts sets, levels and posts together finds by both values
// whether they are of one moment (see rivers).
func (c *Cache) Label() (timelines.Clock, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.label, c.loads
}
