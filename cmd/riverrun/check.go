package main

import (
	"context"
	"fmt"
	"slices"

	"riverrun/timelines/changes"
	"riverrun/timelines/files"
	"riverrun/timelines/publishing"
)

// runCheck compares every live river with one rebuilt from nothing, every stored home feed of the
// selected strategy with the primary store, the references to uploaded files with the store of blobs, the counters of
// authors with their posts, and the log of changes with the posts' versions. Each difference is printed; any is an error.
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
		counted, err := checkCounters(ctx, e, n.timelines.Publishing)
		if err != nil {
			return err
		}
		logged, err := changes.Open(n.timelines, c.changesDays).Check(ctx)
		if err != nil {
			return err
		}
		for _, d := range logged {
			fmt.Fprintln(e.stdout, d)
		}
		if stored.Blobs+len(stored.Orphaned) > 0 {
			fmt.Fprintf(e.stdout, "blobs %d missing %d orphaned %d\n", stored.Blobs, len(stored.Missing), len(stored.Orphaned))
		}
		if checks {
			fmt.Fprintf(e.stdout, "home feeds %d entries %d differences %d\n", feeds.Feeds, feeds.Entries, len(feeds.Differences))
		}
		fmt.Fprintf(e.stdout, "rivers %d entries %d differences %d\n", report.Rivers, report.Entries, len(report.Differences))
		if all := len(report.Differences) + len(feeds.Differences) + len(stored.Missing) + len(stored.Orphaned) + counted + len(logged); all != 0 {
			return fmt.Errorf("check: %d differences", all)
		}
		return nil
	})
}

// checkCounters prints the counters that differ from the number of posts, and returns how many do.
func checkCounters(ctx context.Context, e *env, store *publishing.Store) (n int, err error) {
	err = eachAuthors(ctx, store, func(authors []int64) error {
		wrong, err := store.Compare(ctx, authors...)
		for _, d := range wrong {
			fmt.Fprintln(e.stdout, d)
		}
		n += len(wrong)
		return err
	})
	return n, err
}
