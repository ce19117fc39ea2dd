package main

import (
	"context"
	"errors"
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

// runGroup deletes groups.
func runGroup(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return usagef("group: say delete")
	}
	if args[0] != "delete" {
		return usagef("group: there is no %q; say delete", args[0])
	}
	e.name += " delete"
	var confirm, reason string
	c, rest, err := e.parse(args[1:], func(fs *flag.FlagSet) {
		fs.StringVar(&confirm, "confirm", "", "the name once more, as it cannot be taken back")
		fs.StringVar(&reason, "reason", "", "stands in the log of acts")
	})
	if err != nil {
		return err
	}
	switch {
	case len(rest) == 0:
		return usagef("%s: say which: NAME", e.name)
	case len(rest) > 1:
		return usagef("%s: %q is one too many (flags go before NAME)", e.name, rest[1])
	}
	name := rest[0]
	if confirm != name {
		return usagef("%s: this cannot be taken back; say the name once more: -confirm %s", e.name, name)
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		c, err := leaving.Open(n.timelines).DeleteGroup(ctx, admin.By{}, name, confirm, reason)
		_, err = n.tiers.Carry(ctx, c, err)
		if errors.Is(err, timelines.ErrNotFound) {
			return fmt.Errorf("there is no group %s", name)
		}
		if err != nil {
			return explain(name, err)
		}
		fmt.Fprintf(e.stdout, "the group %s is hidden, and deleted while the site is served\n", name)
		return nil
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
