package main

import (
	"context"
	"fmt"
)

// runCheck compares every live river with one rebuilt from nothing. Each
// difference is printed; any is an error.
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
		fmt.Fprintf(e.stdout, "rivers %d entries %d differences %d\n", report.Rivers, report.Entries, len(report.Differences))
		if len(report.Differences) != 0 {
			return fmt.Errorf("check: %d differences", len(report.Differences))
		}
		return nil
	})
}
