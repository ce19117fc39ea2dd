package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/kinds"
	"riverrun/web"
)

// rebuild is a flag without a value.
const rebuild = "rebuild"

// runRiver says how the river of a page stands, or has it made anew.
func runRiver(ctx context.Context, e *env, args []string) error {
	var as string
	var anew bool
	c, rest, err := e.parse(flagsFirst(args), func(fs *flag.FlagSet) {
		fs.StringVar(&as, "as", "", "the name of the person who reads the page; none: somebody who is not signed in")
		fs.BoolVar(&anew, rebuild, false, "make the river anew")
	})
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("river: say which page: its address, such as /everything")
	}
	page := rest[0]
	as = strings.TrimPrefix(as, "@")
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		name, err := web.RiverOf(ctx, n.timelines, n.rivers, page, as)
		if err != nil {
			return explainRiver(page, as, err)
		}
		if anew {
			if err := n.rebuildRiver(ctx, name, page, as); err != nil {
				return err
			}
		}
		it, err := n.rivers.Inspect(ctx, name)
		if err != nil {
			return err
		}
		return n.printRiver(ctx, e.stdout, it)
	})
}

// explainRiver says what is wrong with the words of the command.
func explainRiver(page, as string, err error) error {
	var invalid *timelines.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	switch invalid.Code {
	case "viewer_none":
		return fmt.Errorf("there is no person %q", as)
	case "viewer_needed":
		return fmt.Errorf("%s is somebody's own page: say whose with -as NAME", page)
	}
	return fmt.Errorf("there is no river at %s", page)
}

func (n *node) rebuildRiver(ctx context.Context, name rivers.Name, page, as string) error {
	it, err := n.rivers.Inspect(ctx, name)
	if err != nil {
		return err
	}
	if it.River == 0 {
		return fmt.Errorf("no river of %s stands now: its next visit builds it", page)
	}
	if err := admin.Open(n.timelines).RecordRebuild(ctx, admin.By{}, page, as); err != nil {
		return err
	}
	err = n.tiers.Remake(ctx, name)
	if errors.Is(err, rivers.ErrNotFound) || errors.Is(err, rivers.ErrForbidden) {
		return fmt.Errorf("the page %s is gone or closed to its reader: its river is removed", page)
	}
	return err
}

func (n *node) printRiver(ctx context.Context, w io.Writer, it *rivers.Inspection) error {
	accounts, err := n.rivers.Access().Accounts(ctx, it.Accounts())
	if err != nil {
		return err
	}
	of := func(id int64) string {
		if a, ok := accounts[id]; ok {
			return " of @" + a.Name
		}
		return ""
	}
	kind := string(it.Name.Kind) + of(it.Name.Account())
	if it.Name.Term != "" {
		kind += fmt.Sprintf(" %q", it.Name.Term)
	}
	if it.Name.Order != rivers.Fresh {
		kind += ", by creation"
	}
	viewer := "somebody who is not signed in"
	if a, ok := accounts[it.Name.UserID]; ok {
		viewer = "@" + a.Name
	}
	readers := make([]string, 0, len(it.Readers))
	for _, id := range it.Readers {
		readers = append(readers, "@"+accounts[id].Name)
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(label, format string, args ...any) { fmt.Fprintf(out, label+"\t"+format+"\n", args...) }
	row("kind", "%s", kind)
	row("of", "%s", viewer)
	if it.River == 0 {
		row("river", "none stands: the next visit builds it")
	} else {
		why := string(it.Why)
		if why == "" {
			why = "not known"
		}
		row("river", "%016x", it.River)
		row("built", "%s (%s)", it.Began.UTC().Format(time.RFC3339), why)
		if !it.Visited.IsZero() {
			row("visited", "%s", it.Visited.UTC().Format(time.RFC3339))
		}
		row("entries", "%d", it.Entries)
		if it.Finished {
			row("floor", "none: it holds everything")
		} else {
			row("floor", "%s", time.UnixMicro(it.Floor).UTC().Format(time.RFC3339))
		}
		row("open", "at %d processes", it.Nodes)
	}
	if it.Building {
		row("building", "a new one is under way")
	}
	row("readers", "%d %s", it.AllReaders, strings.Join(readers, " "))
	row("timelines", "%d", it.AllTimelines)
	for _, t := range it.Timelines {
		text := t.Kind
		if t.Term != "" {
			text += " " + t.Term
		}
		if t.Kind != kinds.Post {
			text += of(t.TheirID)
		}
		row("", "%s", text)
	}
	return out.Flush()
}
