package main

import (
	"context"
	"fmt"
	"slices"

	"riverrun/timelines/files"
)

// runCheck compares every live river with one rebuilt from nothing, every stored home feed of the
// selected strategy with the primary store, and the references to uploaded files with the store of blobs. Each difference is printed; any is an error.
func runCheck(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		return usagef("check: %q is one too many", rest[0])
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		report, err := n.rivers.Check(ctx)
		if err != nil {
			return err
		}
		for _, d := range report.Differences {
			fmt.Fprintln(e.stdout, d)
		}
		feeds, checks, err := n.home.Check(ctx)
		if err != nil {
			return err
		}
		for _, d := range feeds.Differences {
			fmt.Fprintln(e.stdout, d)
		}
		store, err := n.files(ctx)
		if err != nil {
			return err
		}
		stored, err := files.Check(ctx, n.stores.primary, store)
		if err != nil {
			return err
		}
		for _, d := range slices.Concat(stored.Missing, stored.Orphaned) {
			fmt.Fprintln(e.stdout, d)
		}
		if stored.Blobs+len(stored.Orphaned) > 0 {
			fmt.Fprintf(e.stdout, "blobs %d missing %d orphaned %d\n", stored.Blobs, len(stored.Missing), len(stored.Orphaned))
		}
		if checks {
			fmt.Fprintf(e.stdout, "home feeds %d entries %d differences %d\n", feeds.Feeds, feeds.Entries, len(feeds.Differences))
		}
		fmt.Fprintf(e.stdout, "rivers %d entries %d differences %d\n", report.Rivers, report.Entries, len(report.Differences))
		if all := len(report.Differences) + len(feeds.Differences) + len(stored.Missing) + len(stored.Orphaned); all != 0 {
			return fmt.Errorf("check: %d differences", all)
		}
		return nil
	})
}
