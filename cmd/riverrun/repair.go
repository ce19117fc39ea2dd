package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/publishing"
)

// runRepair has one command of its own: counters. It makes the counters of authors right, and prints those that were wrong.
func runRepair(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return usagef("repair: say counters")
	}
	if args[0] != "counters" {
		return usagef("repair: there is no %q; say counters", args[0])
	}
	e.name += " counters"
	var dry bool
	c, names, err := e.parse(args[1:], func(fs *flag.FlagSet) {
		fs.BoolVar(&dry, "dry-run", false, "change nothing")
	})
	if err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		store := n.timelines.Publishing
		mend := store.RepairEach
		if dry {
			mend = store.Compare
		}
		checked, wrong := 0, 0
		block := func(authors []int64) error {
			found, err := mend(ctx, authors...)
			for _, d := range found {
				fmt.Fprintln(e.stdout, d)
			}
			checked, wrong = checked+len(authors), wrong+len(found)
			return err
		}
		if len(names) == 0 {
			err = eachAuthors(ctx, store, block)
		} else {
			var authors []int64
			if authors, err = n.users(ctx, names); err == nil {
				err = block(authors)
			}
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "authors %d counters wrong %d\n", checked, wrong)
		return err
	})
}

// users returns the ids of the people of these names.
func (n *node) users(ctx context.Context, names []string) (ids []int64, err error) {
	found, err := n.timelines.Accounts.Named(ctx, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		i := slices.IndexFunc(found, func(a timelines.Account) bool { return a.Name == name && a.Kind == timelines.User })
		if i < 0 {
			return nil, fmt.Errorf("there is no user %s", name)
		}
		if !slices.Contains(ids, found[i].ID) {
			ids = append(ids, found[i].ID)
		}
	}
	return ids, nil
}

// eachAuthors calls do with all people, block by block.
func eachAuthors(ctx context.Context, store *publishing.Store, do func(authors []int64) error) error {
	const block = 1000
	for after := int64(0); ; {
		authors, err := store.After(ctx, after, block)
		if err != nil {
			return err
		}
		if err := do(authors); err != nil {
			return err
		}
		if len(authors) < block {
			return nil
		}
		after = authors[len(authors)-1]
	}
}
