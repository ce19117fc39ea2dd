package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/reports"
)

// runReports lists, shows and ends reports.
func runReports(ctx context.Context, e *env, args []string) error {
	verb := "list"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	e.name += " " + verb
	switch verb {
	case "list":
		return reportsList(ctx, e, args)
	case "show":
		return reportsShow(ctx, e, args)
	case "take":
		return reportsTake(ctx, e, args)
	case "note":
		return reportsNote(ctx, e, args)
	case "done":
		return reportsDone(ctx, e, args)
	}
	return usagef("reports: there is no %q; say list, show, take, note or done", verb)
}

func reportsList(ctx context.Context, e *env, args []string) error {
	all := false
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.BoolVar(&all, "all", false, "those that are done, too")
	})
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		return usagef("%s: %q is one too many", e.name, rest[0])
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		store := reports.Open(n.timelines)
		out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		which := []reports.Filter{reports.NotDone}
		if all {
			which = append(which, reports.Ended)
		}
		const page = 500
		for _, which := range which {
			for after := ""; ; {
				list, err := store.List(ctx, which, after, page)
				if err != nil {
					return err
				}
				for _, r := range list {
					fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", r.Code, r.At.UTC().Format("2006-01-02 15:04"), r.State, reasonOf(r), aboutOf(r))
					after = r.Code
				}
				if len(list) < page {
					break
				}
			}
		}
		return out.Flush()
	})
}

func reasonOf(r reports.Report) string {
	if r.Appeal {
		return "appeal"
	}
	return string(r.Reason)
}

// aboutOf says in a word or two what a report is about.
func aboutOf(r reports.Report) string {
	switch {
	case r.Comment != 0:
		return fmt.Sprintf("comment %d of post %s by %s", r.Comment, r.Post, r.Account)
	case r.Post != "":
		return fmt.Sprintf("post %s by %s", r.Post, r.Account)
	}
	return r.Account
}

func reportsShow(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	code, err := oneCode(e, rest)
	if err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		store := reports.Open(n.timelines)
		r, err := store.Get(ctx, code)
		if err != nil {
			return explainCode("report", code, err)
		}
		notes, err := store.Notes(ctx, r.ID)
		if err != nil {
			return err
		}
		out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		for _, line := range [][2]string{
			{"about", aboutOf(r)},
			{"reported", r.At.UTC().Format("2006-01-02 15:04") + " by " + r.Reporter},
			{"reason", reasonOf(r)},
			{"says", r.Body},
			{"text", r.Said},
			{"state", string(r.State)},
			{"taken by", r.TakenBy},
			{"outcome", string(r.Outcome)},
			{"answer", r.Answer},
		} {
			if line[1] != "" {
				fmt.Fprintf(out, "%s\t%s\n", line[0], plainLines(line[1]))
			}
		}
		for _, note := range notes {
			fmt.Fprintf(out, "note\t%s %s: %s\n", note.At.UTC().Format("2006-01-02 15:04"), note.By, plainLines(note.Body))
		}
		return out.Flush()
	})
}

// plainLines keeps people's texts from steering the terminal: each control character becomes a
// space, and each line after the first is set in.
func plainLines(text string) string {
	return strings.ReplaceAll(strings.Map(func(r rune) rune {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, text), "\n", "\n\t")
}

func reportsTake(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	return onReport(ctx, e, c, rest, "taken", func(ctx context.Context, s *reports.Store, code string) (timelines.Change, error) {
		return s.Take(ctx, admin.By{}, code)
	})
}

func reportsNote(ctx context.Context, e *env, args []string) error {
	text := ""
	c, rest, err := e.parse(flagsFirst(args), func(fs *flag.FlagSet) {
		fs.StringVar(&text, "text", "", "what the staff read")
	})
	if err != nil {
		return err
	}
	return onReport(ctx, e, c, rest, "noted", func(ctx context.Context, s *reports.Store, code string) (timelines.Change, error) {
		return s.AddNote(ctx, admin.By{}, code, text)
	})
}

// onReport makes a change of the one report that is named, and says that it is done.
func onReport(ctx context.Context, e *env, c *config, rest []string, done string,
	change func(context.Context, *reports.Store, string) (timelines.Change, error),
) error {
	code, err := oneCode(e, rest)
	if err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		c, err := change(ctx, reports.Open(n.timelines), code)
		_, err = n.tiers.Carry(ctx, c, err)
		if err != nil {
			return explainCode("report", code, err)
		}
		fmt.Fprintf(e.stdout, "report %s is %s\n", code, done)
		return nil
	})
}

func reportsDone(ctx context.Context, e *env, args []string) error {
	outcome, answer := "", ""
	c, rest, err := e.parse(flagsFirst(args), func(fs *flag.FlagSet) {
		fs.StringVar(&outcome, "outcome", "", "removed, suspended, restored, nothing or other")
		fs.StringVar(&answer, "answer", "", "what the reporter reads")
	})
	if err != nil {
		return err
	}
	return onReport(ctx, e, c, rest, "done", func(ctx context.Context, s *reports.Store, code string) (timelines.Change, error) {
		return s.End(ctx, admin.By{}, code, reports.Outcome(outcome), answer)
	})
}

// runPost removes posts and comments.
func runPost(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return usagef("post: say remove")
	}
	if args[0] != "remove" {
		return usagef("post: there is no %q; say remove", args[0])
	}
	e.name += " " + args[0]
	c, rest, err := e.parse(args[1:], nil)
	if err != nil {
		return err
	}
	code, err := oneCode(e, rest)
	if err != nil {
		return err
	}
	kind, comment := "post", int64(0)
	post, id, of := strings.Cut(code, "#")
	if of {
		kind = "comment"
		if comment, err = strconv.ParseInt(strings.TrimPrefix(id, "c-"), 10, 64); err != nil {
			return usagef("%s: %q is no comment of a post", e.name, code)
		}
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		var c timelines.Change
		var err error
		if of {
			c, err = admin.Open(n.timelines).RemoveComment(ctx, admin.By{}, post, comment, "")
			_, err = n.tiers.Carry(ctx, c, err)
		} else {
			c, err = admin.Open(n.timelines).RemovePost(ctx, admin.By{}, post, "")
			_, err = n.tiers.Carry(ctx, c, err)
		}
		if err != nil {
			return explainCode(kind, code, err)
		}
		fmt.Fprintf(e.stdout, "%s %s is removed\n", kind, code)
		return nil
	})
}

func accountRemovePosts(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	name, err := oneName(e, rest)
	if err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		c, err := admin.Open(n.timelines).RemovePosts(ctx, admin.By{}, name)
		_, err = n.tiers.Carry(ctx, c, err)
		if err != nil {
			return explain(name, err)
		}
		fmt.Fprintf(e.stdout, "all that %s wrote is hidden, and removed while the site is served\n", name)
		return nil
	})
}

func oneCode(e *env, rest []string) (string, error) {
	switch len(rest) {
	case 0:
		return "", usagef("%s: say which: CODE", e.name)
	case 1:
		return rest[0], nil
	}
	return "", usagef("%s: %q is one too many", e.name, rest[1])
}

// explainCode is explain for what has a code.
func explainCode(kind, code string, err error) error {
	if errors.Is(err, timelines.ErrNotFound) {
		return fmt.Errorf("there is no %s %s", kind, code)
	}
	return explain(code, err)
}
