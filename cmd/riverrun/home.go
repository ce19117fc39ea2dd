package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"riverrun/rivers/strategies"
)

// runHome has one command of its own: convert.
func runHome(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 || args[0] != "convert" {
		return usagef("home: want convert")
	}
	e.name = "home convert"
	c, rest, err := e.parse(args[1:], nil)
	if err != nil {
		return err
	}
	name := c.home
	switch {
	case len(rest) > 1:
		return usagef("home convert: %q is one too many", rest[1])
	case len(rest) == 1:
		name = rest[0]
	}
	if !slices.Contains(strategies.Names(), name) {
		return usagef("home convert: %q: want one of %s", name, strings.Join(strategies.Names(), ", "))
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error { return n.convert(ctx, e, name) })
}

// convertedPeople is how many people convert lists at a time.
const convertedPeople = 500

// convert fills the home feeds of all people, in the order of their ids.
func (n *node) convert(ctx context.Context, e *env, name string) error {
	filler, fills := strategies.New(name, n.feeds()).(strategies.Filler)
	if !fills {
		_, err := fmt.Fprintf(e.stdout, "%s stores no whole home feeds: there is nothing to do\n", name)
		return err
	}
	shown := newProgress(e.stderr)
	defer shown.clear()
	people := 0
	for after := int64(0); ; {
		selected, err := strategies.Selected(ctx, n.stores.secondary)
		if err != nil {
			return err
		}
		if selected != name {
			return fmt.Errorf("the site's servers do not make home pages by %s, so feeds would not follow what happens: start them with RIVERRUN_HOME=%s first", name, name)
		}
		ids, err := n.timelines.Accounts.People(ctx, after, convertedPeople)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := filler.Fill(ctx, id); err != nil {
				return err
			}
			after = id
			people++
			shown.show("%d home feeds", people)
		}
		if len(ids) < convertedPeople {
			break
		}
	}
	shown.clear()
	_, err := fmt.Fprintf(e.stdout, "%s: %d people have a home feed\n", name, people)
	return err
}
