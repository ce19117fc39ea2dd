package localpg

import (
	"context"
	"time"
)

// How long keep waits before it starts the server again. It waits longer each time the
// server does not come up.
const (
	firstRest   = time.Second
	longestRest = 15 * time.Second
)

// keep starts the server again whenever it ends by itself, until ctx ends. The server may
// end, for example, if the disk has no room for a crash recovery, and it comes up again as
// soon as there is room. PostgreSQL itself recovers from crashes of single backends.
func (c *Cluster) keep(ctx context.Context, begin func(context.Context) error) {
	defer close(c.kept)
	rest := firstRest
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.done:
		}
		for why := c.ended(); why != nil; rest = min(2*rest, longestRest) {
			c.log.ErrorContext(ctx, "starting PostgreSQL again", "after", rest, "error", why)
			timer := time.NewTimer(rest)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			if why = begin(ctx); ctx.Err() != nil {
				return
			}
		}
		rest = firstRest
		c.log.InfoContext(ctx, "PostgreSQL runs again")
	}
}
