package main

import (
	"context"
	"fmt"
)

// runExpire removes the rivers that the periodic job would.
func runExpire(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		return usagef("expire: %q is one too many", rest[0])
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		expired, err := n.rivers.Expire(ctx)
		if err != nil {
			return err
		}
		if err := n.home.Expire(ctx); err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "retired %d removed %d entries %d tombstones %d folds %d\n",
			expired.Rivers, expired.Removed, expired.Entries, expired.Tombstones, expired.Folds)
		return nil
	})
}
