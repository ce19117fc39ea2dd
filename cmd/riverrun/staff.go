package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/web/adminpages"
)

// accountAdmin gives and takes roles.
func accountAdmin(ctx context.Context, e *env, args []string) error {
	var off, moderator bool
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.BoolVar(&off, "off", false, "take the role away")
		fs.BoolVar(&moderator, "moderator", false, "a moderator: reports, posts and suspensions alone")
	})
	if err != nil {
		return err
	}
	name, err := oneName(e, rest)
	if err != nil {
		return err
	}
	role, said := admin.Administrator, "is an administrator"
	switch {
	case off && moderator:
		return usagef("%s: say -off or -moderator", e.name)
	case off:
		role, said = admin.Nobody, "has no role"
	case moderator:
		role, said = admin.Moderator, "is a moderator"
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		return n.act(ctx, e, name, said, func(ctx context.Context, staff *admin.Store) (timelines.Change, error) {
			return staff.SetRole(ctx, admin.By{}, name, role)
		})
	})
}

func accountSuspend(ctx context.Context, e *env, args []string) error {
	var terms admin.Suspension
	var lasts time.Duration
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.StringVar(&terms.Reason, "reason", "", "the person reads it when they try to sign in")
		fs.DurationVar(&lasts, "for", 0, "how long, as in 72h; default: for good")
		fs.BoolVar(&terms.Hide, "hide", false, "only administrators and moderators see what the person wrote")
	})
	if err != nil {
		return err
	}
	name, err := oneName(e, rest)
	if err != nil {
		return err
	}
	switch {
	case terms.Reason == "":
		return usagef("%s: say why: -reason TEXT", e.name)
	case lasts < 0:
		return usagef("%s: -for %s: want more than 0", e.name, lasts)
	case lasts > 0:
		ends := time.Now().Add(lasts)
		terms.Ends = &ends
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		return n.act(ctx, e, name, "is suspended, and signed out everywhere", func(ctx context.Context, staff *admin.Store) (timelines.Change, error) {
			return staff.Suspend(ctx, admin.By{}, name, terms)
		})
	})
}

func accountRestore(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	name, err := oneName(e, rest)
	if err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		return n.act(ctx, e, name, "may sign in again", func(ctx context.Context, staff *admin.Store) (timelines.Change, error) {
			return staff.Restore(ctx, admin.By{}, name)
		})
	})
}

// act does something to a person through the tiers, so that it is done on every node before this
// command reports success.
func (n *node) act(ctx context.Context, e *env, name, said string, do func(context.Context, *admin.Store) (timelines.Change, error)) error {
	c, err := do(ctx, admin.Open(n.timelines))
	_, err = n.tiers.Carry(ctx, c, err)
	if err != nil {
		return explain(name, err)
	}
	fmt.Fprintf(e.stdout, "%s %s\n", name, said)
	return nil
}

// accountLink prints an address at which a person chooses a password.
func accountLink(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	name, err := oneName(e, rest)
	if err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		token, err := admin.Open(n.timelines).Link(ctx, admin.By{}, name)
		if err != nil {
			return explain(name, err)
		}
		fmt.Fprintf(e.stdout, "%s%s\n", n.config.siteURL(), adminpages.PasswordPath(token))
		return nil
	})
}

// siteURL is the address of the site as this command knows it.
func (c *config) siteURL() string {
	if c.url != "" {
		return c.url
	}
	return "http://" + c.listen
}

// runActs prints the audit log.
func runActs(ctx context.Context, e *env, args []string) error {
	var last int
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.IntVar(&last, "last", 50, "how many")
	})
	name := ""
	switch {
	case err != nil:
		return err
	case last < 1:
		return usagef("%s: -last %d: want 1 or more", e.name, last)
	case len(rest) > 1:
		return usagef("%s: %q is one too many", e.name, rest[1])
	case len(rest) == 1:
		name = rest[0]
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		acts, err := admin.Open(n.timelines).Acts(ctx, name, 0, last)
		if err != nil {
			return err
		}
		out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		for _, a := range acts {
			by := a.By
			if by == "" {
				by = "-"
			}
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", a.At.UTC().Format(time.DateTime), by, a.Kind, a.Subject, strings.Join(strings.Fields(a.Detail), " "))
		}
		return out.Flush()
	})
}

// announceFirst prints the address that makes the first administrator, while there is none. It goes to
// whoever started the server, and into no log.
func (n *node) announceFirst(ctx context.Context, e *env) error {
	token, err := admin.Open(n.timelines).FirstLink(ctx)
	if err != nil || token == "" {
		return err
	}
	fmt.Fprintf(e.stdout, "nobody is in charge yet: sign up, and open %s%s (it works once), or run riverrun account admin NAME\n", n.config.url, adminpages.ClaimPath(token))
	return nil
}
