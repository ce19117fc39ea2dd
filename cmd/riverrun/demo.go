package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"riverrun/timelines"
)

// The town's accounts and posts come in as an import from this source, with dates of the last
// two weeks. Passwords and subscriptions follow as if people had made them. demoMade records
// that all of it was done once.
const (
	demoSource = "demo"
	demoMade   = "demo:made"
)

// runDemo makes a small town to look at. Another run adds only what an older town lacks.
func runDemo(ctx context.Context, e *env, args []string) error {
	password := ""
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.StringVar(&password, "password", "", "everybody's password; default: a random one")
	})
	switch {
	case err != nil:
		return err
	case len(rest) != 0:
		return usagef("demo: %q is one too many", rest[0])
	case password == "":
		password = strings.ToLower(rand.Text()[:12])
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		t, err := readTown()
		if err != nil {
			return err
		}
		d := &demo{env: e, node: n, town: t, password: password}
		if err := d.run(ctx); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
		return nil
	})
}

// demo is one run of the command.
type demo struct {
	*env
	node     *node
	town     *town
	password string
	ids      map[string]int64             // by the town's names
	accounts map[string]timelines.Account // by the town's names
}

func (d *demo) run(ctx context.Context) error {
	made, err := d.node.timelines.Imports.Recall(ctx, demoMade, "account")
	if err != nil {
		return err
	}
	tally, err := d.create(ctx)
	if err != nil {
		return err
	}
	if len(made) == 0 {
		// A run that was cut short before this mark does all of this again, and
		// changes only what is missing.
		if err := d.connect(ctx); err != nil {
			return err
		}
	}
	if err := d.trade(ctx, len(made) > 0); err != nil {
		return err
	}
	if len(made) == 0 {
		if err := d.node.timelines.Imports.Remember(ctx, demoMade, "account", map[string]int64{"town": d.ids["sam"]}); err != nil {
			return err
		}
	}
	fmt.Fprintf(d.stdout, "new: %s\nthere: %s\n", counted(tally.New), counted(tally.There))
	return d.introduce(len(made) > 0)
}

// create creates the missing accounts and posts.
func (d *demo) create(ctx context.Context) (_ timelines.Tally, err error) {
	accounts, posts := slices.Collect(maps.Values(d.town.accounts())), d.town.posts(time.Now())
	im, err := d.node.timelines.Imports.Start(ctx, demoSource)
	if err != nil {
		return timelines.Tally{}, err
	}
	defer func() { err = errors.Join(err, im.Close(ctx)) }()
	var c timelines.Change
	d.ids, c, err = im.Accounts(ctx, accounts)
	_, err = d.node.tiers.Carry(ctx, c, err)
	if err != nil {
		return timelines.Tally{}, err
	}
	c, err = im.Add(ctx, posts)
	_, err = d.node.tiers.Carry(ctx, c, err)
	if err != nil {
		return timelines.Tally{}, err
	}
	if err := guessLanguages(ctx, im); err != nil {
		return timelines.Tally{}, err
	}
	return im.Tally(), d.read(ctx)
}

// read reads the names of the accounts: a name may have been taken.
func (d *demo) read(ctx context.Context) error {
	var ids []int64
	names := map[int64]string{}
	for name, id := range d.ids {
		ids = append(ids, id)
		names[id] = name
	}
	list, err := d.node.timelines.Accounts.ByID(ctx, ids)
	d.accounts = map[string]timelines.Account{}
	for _, a := range list {
		d.accounts[names[a.ID]] = a
	}
	return err
}

// connect gives everybody a password and lets them follow each other.
func (d *demo) connect(ctx context.Context) error {
	for _, p := range d.town.People {
		c, err := d.node.timelines.Accounts.ChangePassword(ctx, d.accounts[p.Name].Name, d.password)
		_, err = d.node.tiers.Carry(ctx, c, err)
		if err != nil {
			return explain(p.Name, err)
		}
	}
	for _, p := range d.town.People {
		for _, whom := range p.Follows {
			if err := d.follow(ctx, p.Name, whom); err != nil {
				return fmt.Errorf("%s follows %s: %w", p.Name, whom, err)
			}
		}
	}
	return nil
}

// follow makes one person follow another, who accepts if asked.
func (d *demo) follow(ctx context.Context, who, whom string) error {
	to := d.accounts[whom]
	c, requested, err := d.node.timelines.Subscriptions.Subscribe(ctx, d.ids[who], to.Name)
	_, err = d.node.tiers.Carry(ctx, c, err)
	if err != nil || !requested {
		return err
	}
	host, group := d.ids[whom], ""
	for _, g := range d.town.Groups {
		if g.Name == whom {
			host, group = d.ids[g.Admin], to.Name
		}
	}
	c, err = d.node.timelines.Subscriptions.Accept(ctx, host, d.accounts[who].Name, group)
	_, err = d.node.tiers.Carry(ctx, c, err)
	return err
}

// introduce prints the names of the people and how to sign in as one of them.
func (d *demo) introduce(old bool) error {
	if old {
		fmt.Fprint(d.stdout, "\nThe town was there already; its passwords are as they were. Another one: riverrun account password NAME\n\n")
	} else {
		fmt.Fprintf(d.stdout, "\nSign in as any of these people, password %s\n\n", d.password)
	}
	table := tabwriter.NewWriter(d.stdout, 0, 0, 2, ' ', 0)
	for _, p := range d.town.People {
		note := ""
		if p.Private {
			note = " (private)"
		}
		fmt.Fprintf(table, "  %s\t%s%s\t%s\n", d.accounts[p.Name].Name, p.Title, note, p.About)
	}
	fmt.Fprint(table, "\t\t\n")
	for _, g := range d.town.Groups {
		note := ""
		if g.Private {
			note = " (private)"
		}
		fmt.Fprintf(table, "  %s\t%s%s\t%s\n", d.accounts[g.Name].Name, g.Title, note, g.About)
	}
	return table.Flush()
}
