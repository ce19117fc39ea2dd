package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/doors"
)

// runInvite makes an invitation and prints its link, or withdraws one.
func runInvite(ctx context.Context, e *env, args []string) error {
	if len(args) > 0 && args[0] == "withdraw" {
		e.name += " withdraw"
		return inviteWithdraw(ctx, e, args[1:])
	}
	var n doors.New
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.IntVar(&n.Uses, "uses", 1, "how many people may use it")
		fs.IntVar(&n.Days, "days", 7, "how many days it is good")
		fs.StringVar(&n.Note, "note", "", "what it is for")
		fs.Func("group", "a group that they join; may be said again", func(name string) error {
			n.Groups = append(n.Groups, name)
			return nil
		})
	})
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("%s: %q is one too many", e.name, rest[0])
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, node *node) error {
		i, err := doors.Open(node.timelines).Invite(ctx, admin.By{}, n)
		if errors.Is(err, timelines.ErrNotFound) {
			return errors.New("there is no such group")
		}
		if err != nil {
			return explainDoor(err)
		}
		fmt.Fprintf(e.stdout, "%s/signup?invitation=%s\n", node.config.siteURL(), i.Code)
		return nil
	})
}

func inviteWithdraw(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("%s: say which: CODE", e.name)
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		if err := doors.Open(n.timelines).Withdraw(ctx, admin.By{}, rest[0]); err != nil {
			if errors.Is(err, timelines.ErrNotFound) {
				return fmt.Errorf("there is no invitation %s", rest[0])
			}
			return err
		}
		fmt.Fprintf(e.stdout, "invitation %s is withdrawn\n", rest[0])
		return nil
	})
}

// atOnce is how many rows of a list are read at a time.
const atOnce = 500

// runInvitations lists all invitations, the newest first.
func runInvitations(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("%s: %q is one too many", e.name, rest[0])
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		for before := int64(0); ; {
			list, err := doors.Open(n.timelines).Invitations(ctx, 0, before, atOnce)
			if err != nil {
				return err
			}
			for _, i := range list {
				by := i.By
				if by == "" {
					by = "-"
				}
				fmt.Fprintf(out, "%s\t%s\t%s\t%d of %d\tuntil %s\t%s\t%s\t%s\n", i.Code, by, i.State, i.Used, i.Uses,
					i.ExpiresAt.UTC().Format("2006-01-02"), strings.Join(i.Groups, ","), strings.Join(i.Came, ","), i.Note)
				before = i.ID
			}
			if len(list) < atOnce {
				return out.Flush()
			}
		}
	})
}

// runSignUps lists people who wait to be let in, and answers them.
func runSignUps(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return usagef("signups: say list, admit or refuse")
	}
	verb, args := args[0], args[1:]
	e.name += " " + verb
	switch verb {
	case "list":
		return signUpsList(ctx, e, args)
	case "admit", "refuse":
		return signUpsAnswer(ctx, e, args, verb == "admit")
	}
	return usagef("signups: there is no %q; say list, admit or refuse", verb)
}

func signUpsList(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("%s: %q is one too many", e.name, rest[0])
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		list, err := doors.Open(n.timelines).Waiting(ctx, 0, doors.MaxWaiting)
		if err != nil {
			return err
		}
		out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		for _, a := range list {
			fmt.Fprintf(out, "%s\t%s\t%q\n", a.Name, a.At.UTC().Format("2006-01-02 15:04"), a.Sentence)
		}
		return out.Flush()
	})
}

func signUpsAnswer(ctx context.Context, e *env, args []string, admits bool) error {
	answer := ""
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		if !admits {
			fs.StringVar(&answer, "answer", "", "the person reads it at the next try to sign in")
		}
	})
	if err != nil {
		return err
	}
	name, err := oneName(e, rest)
	if err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		var c timelines.Change
		var err error
		said := "is refused"
		if admits {
			said = "is let in"
			c, err = doors.Open(n.timelines).Admit(ctx, admin.By{}, name)
			_, err = n.tiers.Carry(ctx, c, err)
		} else {
			c, err = doors.Open(n.timelines).Refuse(ctx, admin.By{}, name, answer)
			_, err = n.tiers.Carry(ctx, c, err)
		}
		if err != nil {
			return explain(name, explainDoor(err))
		}
		fmt.Fprintf(e.stdout, "%s %s\n", name, said)
		return nil
	})
}

// explainDoor adds to err what a person at a terminal can do about it.
func explainDoor(err error) error {
	var invalid *timelines.InvalidError
	switch {
	case errors.Is(err, doors.ErrClosed):
		return errors.New("nobody can sign up: RIVERRUN_SIGNUP, or the page /admin/doors, says closed")
	case errors.Is(err, doors.ErrAnswered):
		return errors.New("this person does not wait to be let in")
	case errors.As(err, &invalid) && invalid.Code == "invitation_uses":
		return fmt.Errorf("-uses: want a number from 1 to %d", invalid.Most)
	case errors.As(err, &invalid) && invalid.Code == "invitation_days":
		return fmt.Errorf("-days: want a number from 1 to %d", invalid.Most)
	case errors.As(err, &invalid):
		return fmt.Errorf("%s: this text is too long, or no text", invalid.Field)
	}
	return err
}
