package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// runExplain says whether and why somebody sees a post.
func runExplain(ctx context.Context, e *env, args []string) error {
	var viewer, code string
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.StringVar(&viewer, "viewer", "", "the name of the account that looks; none: somebody who is not signed in")
		fs.StringVar(&code, "post", "", "the post's code, as in its address /p/CODE")
	})
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		return usagef("explain: %q is one too many", rest[0])
	}
	if code == "" {
		return usagef("explain: say which post with -post CODE")
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		x := explainer{node: n, names: map[int64]string{}}
		if viewer != "" {
			viewer = strings.TrimPrefix(viewer, "@")
			a, err := n.timelines.Accounts.ByName(ctx, viewer)
			if errors.Is(err, timelines.ErrNotFound) {
				return fmt.Errorf("there is no account %q", viewer)
			}
			if err != nil {
				return err
			}
			if a.Kind != timelines.User {
				return fmt.Errorf("%s is a group: it sees nothing", viewer)
			}
			x.viewer = a.ID
		}
		found, err := n.rivers.Explain(ctx, x.viewer, code)
		if errors.Is(err, timelines.ErrNotFound) {
			return fmt.Errorf("there was never a post %q", code)
		}
		if err != nil {
			return err
		}
		return x.print(ctx, e.stdout, code, found)
	})
}

// explainer puts an explanation into words.
type explainer struct {
	*node
	viewer int64
	names  map[int64]string // of accounts, as the words have them
}

func (x *explainer) print(ctx context.Context, w io.Writer, code string, found *rivers.Explanation) error {
	if found.Deleted {
		_, err := fmt.Fprintf(w, "The post %s was deleted: nobody sees it.\n", code)
		return err
	}
	if err := x.name(ctx, found); err != nil {
		return err
	}
	var b strings.Builder
	who, by := x.names[x.viewer], x.names[found.Author]
	fmt.Fprintf(&b, "The post %s of %s: %s.\n\n", code, by, x.verdict(who, by, found))
	b.WriteString("It stands in\n")
	for _, g := range found.Grants {
		fmt.Fprintf(&b, "  %s (%s): %s\n", x.timeline(g.Timeline), g.Level, x.door(who, g))
	}
	fmt.Fprintf(&b, "\nRivers of %s\n", who)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, st := range found.Standings {
		fmt.Fprintf(table, "  %s\t%s;\t%s\n", x.river(st), x.cause(st), stored(st))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// door says whether a decisive timeline is open, and if not, why not.
func (x *explainer) door(who string, g rivers.Grant) string {
	switch {
	case g.Opens:
		return "open to " + who
	case g.LeftOut:
		return "closed to " + who + ", who is left out of it"
	case g.Timeline.Kind == kinds.Directs:
		return "closed to " + who + ", who takes no part in it"
	case g.Timeline.Kind == kinds.Eyes:
		return "closed to " + who + ", whose it is not"
	case g.Level == timelines.Private:
		return "closed to " + who + ", who is not among its readers"
	}
	return "closed to " + who
}

func (x *explainer) verdict(who, by string, found *rivers.Explanation) string {
	switch {
	case found.Hide.Cause != rivers.Unhidden:
		return fmt.Sprintf("%s hides %s, and of the rivers below sees it in these only: %s", who, hidden(found.Hide), x.shown(found))
	case found.Sees:
		return fmt.Sprintf("%s sees it, because something it stands in is open to %s", who, who)
	case found.Banned:
		return fmt.Sprintf("%s does not see it, because a ban stands between %s and %s", who, who, by)
	}
	return fmt.Sprintf("%s does not see it, because all it stands in is closed to %s", who, who)
}

// hidden names the viewer's hide that covers the post.
func hidden(h rivers.Hide) string {
	switch h.Cause {
	case rivers.HiddenAuthor:
		return "its author"
	case rivers.HiddenGroups:
		return "the groups it stands in"
	case rivers.HiddenTerm:
		return fmt.Sprintf("what has %q in it", strings.Join(h.Term, " "))
	}
	return "it"
}

// shown names the rivers that show the post.
func (x *explainer) shown(found *rivers.Explanation) string {
	var in []string
	for _, st := range found.Standings {
		if st.Cause == rivers.Shown {
			in = append(in, x.river(st))
		}
	}
	return strings.Join(in, ", ")
}

func (x *explainer) cause(st rivers.Standing) string {
	switch st.Cause {
	case rivers.Closed:
		return "not shown: the page is closed"
	case rivers.Unheld:
		return "not shown: nothing this river is made of holds it"
	case rivers.Unreadable:
		return "not shown: the post is closed"
	case rivers.Banned:
		return "not shown: a ban"
	case rivers.Hidden:
		return "not shown: the viewer hides " + hidden(st.Hide)
	case rivers.Reasonless:
		return "not shown: it would be here only by somebody the viewer does not see"
	}
	if len(st.Why) == 0 {
		return "shown"
	}
	why := make([]string, len(st.Why))
	for i, t := range st.Why {
		why[i] = x.timeline(t)
	}
	return "shown, from " + strings.Join(why, ", ")
}

// stored describes the entry in the secondary store.
func stored(st rivers.Standing) string {
	switch {
	case st.River == 0:
		return "no such river stands: the next visit builds it"
	case st.Stored == 0:
		return fmt.Sprintf("river %d has no entry", st.River)
	case st.Deleted:
		return fmt.Sprintf("river %d has a tombstone of version %d", st.River, st.Stored)
	}
	text := fmt.Sprintf("river %d has version %d", st.River, st.Stored)
	if st.Stored < st.Expected {
		// A version may change without the entry: a river none of whose timelines was touched
		// keeps its entry.
		text += fmt.Sprintf(" (the post has %d)", st.Expected)
	}
	if st.Below {
		text += ", deeper than anybody has read"
	}
	return text
}

func (x *explainer) river(st rivers.Standing) string {
	n := st.Name
	text := string(n.Kind)
	if st.Title != "" {
		text += fmt.Sprintf(" %q", st.Title)
	}
	if name := x.names[n.Account()]; n.Account() != 0 && name != "" {
		text += " of " + name
	}
	if n.Term != "" {
		text += " " + n.Term
	}
	if n.Order != rivers.Fresh {
		text += ", by creation"
	}
	return text
}

func (x *explainer) timeline(t timelines.Timeline) string {
	text := t.Kind
	if t.Term != "" {
		text += " " + t.Term
	}
	if name := x.names[t.TheirID]; t.TheirID != 0 && t.Kind != kinds.Post && name != "" {
		text += " of " + name
	}
	return text
}

// name looks up everybody the explanation names.
func (x *explainer) name(ctx context.Context, found *rivers.Explanation) error {
	ids := []int64{x.viewer, found.Author}
	for _, g := range found.Grants {
		ids = append(ids, g.Timeline.TheirID)
	}
	for _, st := range found.Standings {
		if who := st.Name.Account(); who != 0 {
			ids = append(ids, who)
		}
		for _, t := range st.Why {
			if t.Kind != kinds.Post {
				ids = append(ids, t.TheirID)
			}
		}
	}
	accounts, err := x.timelines.Accounts.ByID(ctx, ids)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		x.names[a.ID] = "@" + a.Name
	}
	if x.viewer == 0 {
		x.names[0] = "somebody who is not signed in"
	}
	return nil
}
