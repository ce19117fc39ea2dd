package main

import (
	"context"
	"flag"
	"fmt"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/leaving"
)

// accountDelete has an account deleted, after some days or now.
func accountDelete(ctx context.Context, e *env, args []string) error {
	var reason string
	var now bool
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.StringVar(&reason, "reason", "", "the person reads it when they try to sign in")
		fs.BoolVar(&now, "now", false, "leave no time to keep it")
	})
	if err != nil {
		return err
	}
	name, err := oneName(e, rest)
	if err != nil {
		return err
	}
	said := fmt.Sprintf("is hidden, and deleted in %d days; riverrun account keep %s ends that", int(leaving.Grace.Hours())/24, name)
	if now {
		said = "is hidden, and deleted while the site is served"
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		return n.act(ctx, e, name, said, func(ctx context.Context, _ *admin.Store) (timelines.Change, error) {
			return leaving.Open(n.timelines).Delete(ctx, admin.By{}, name, reason, now)
		})
	})
}

// accountKeep keeps an account that is to be deleted.
func accountKeep(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	name, err := oneName(e, rest)
	if err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		return n.act(ctx, e, name, "stays", func(ctx context.Context, _ *admin.Store) (timelines.Change, error) {
			return leaving.Open(n.timelines).Keep(ctx, admin.By{}, name)
		})
	})
}
