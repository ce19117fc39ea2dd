package main

import (
	"context"
	"errors"
	"fmt"
)

// runWork works jobs, as serve does, and serves no pages.
func runWork(ctx context.Context, e *env, args []string) (err error) {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		return usagef("work: %q is one too many", rest[0])
	}
	ops, err := c.listenOps(ctx)
	if err != nil {
		return err
	}
	if ops != nil {
		defer ops.Close() // its server closes it too; for errors before there is one
	}
	stop, err := c.profile(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) (err error) {
		files, err := n.files(ctx)
		if err != nil {
			return err
		}
		work, err := n.jobs(ctx, files)
		if err != nil {
			return err
		}
		if err := work.Start(ctx); err != nil {
			return errors.Join(err, work.Stop(context.WithoutCancel(ctx)))
		}
		stopOps := n.serveOps(ops, n.health(work, files))
		defer func() { err = errors.Join(err, stopOps()) }()
		fmt.Fprintln(e.stdout, "riverrun works jobs")
		<-ctx.Done()
		n.log.InfoContext(ctx, "stopping", "why", context.Cause(ctx))
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.stopTimeout)
		defer cancel()
		return work.Stop(stopping)
	})
}
