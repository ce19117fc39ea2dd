package tiers_test

import (
	"flag"
	"maps"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/timelines"
)

// Any short sequence of doings on one node, with its events worked at any time, in any
// order, as often as anybody likes, ends with rivers that are what the oracle says. A
// failure shrinks to the shortest sequence.
func TestAnySequence(t *testing.T) {
	_, times := testdb.Chance(t)
	set := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(4 * times), "rapid.steps": "25"} {
		if f := flag.Lookup(name); !set[name] {
			was := f.Value.String()
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Value.Set(was) }() // it was its value before
		}
	}
	w := newTown(t)
	v := &village{town: w, nodes: []*node{w.quiet()}}
	w.few = 2 // a change often concerns more rivers, and often not
	v.nodes = append(v.nodes, w.quiet())
	v.n = v.nodes[0]
	for _, name := range []string{"ann", "bob", "cat"} {
		v.people = append(v.people, w.quick(name))
		v.names = append(v.names, name)
	}
	for i, level := range []timelines.Level{timelines.Public, timelines.Private} {
		v.names = append(v.names, w.group(v.people[i], "club-"+level.String(), level).Name)
	}
	rapid.Check(t, v.once)
}

// village is a small town with nothing in it, again and again.
type village struct {
	*town
	nodes  []*node
	n      *node // that of this sequence
	people []timelines.Viewer
	names  []string // of people, then of groups
	posts  []timelines.Change
	items  []int64 // those of the posts that a source made
	bodies int
}

// empty takes away all that was done; the access clock's epoch goes with the
// rivers, and with it whatever the node remembers.
func (v *village) empty() {
	v.posts, v.items = nil, nil
	for _, query := range []string{
		`TRUNCATE posts, timeline_entries, texts, text_marks, subscriptions, subscription_requests, group_admins, group_blocks, excluded,
			bans, show_banned, hidden_accounts, hidden_terms, lists, author_counters, author_totals, test_events CASCADE`,
		`INSERT INTO group_admins (group_id, account_id)
			SELECT g.id, a.id FROM accounts g, accounts a
			WHERE g.kind = 'group' AND a.name = CASE g.name WHEN 'club-private' THEN 'bob' ELSE 'ann' END`,
		`INSERT INTO readers (timeline_id, account_id)
			SELECT t.id, g.account_id FROM group_admins g JOIN timelines t ON t.kind = 'group' AND t.their_id = g.group_id
			ON CONFLICT DO NOTHING`,
		`UPDATE timelines t SET writers = CASE a.name WHEN 'club-private' THEN 'members' ELSE 'anyone' END
			FROM accounts a WHERE a.id = t.their_id AND t.kind IN ('directs', 'group')`,
		`UPDATE accounts SET listings_in = 'EUR' WHERE kind = 'group'`,
		`DELETE FROM timelines WHERE kind IN ('post', 'hashtag') OR kind = 'subfeed' AND term <> 'private'`,
		`DELETE FROM readers r USING timelines t WHERE t.id = r.timeline_id AND t.kind <> 'group'
			AND t.their_id <> r.account_id`,
		`DELETE FROM readers r USING timelines t WHERE t.id = r.timeline_id AND t.kind = 'group'
			AND NOT EXISTS (SELECT FROM group_admins g WHERE g.group_id = t.their_id AND g.account_id = r.account_id)`,
		`UPDATE timelines t SET access = CASE a.name WHEN 'club-private' THEN 2 ELSE 0 END
			FROM accounts a WHERE a.id = t.their_id AND t.kind IN ('feed', 'group')`,
	} {
		v.execPrimary(query)
	}
	v.execSecondary(`TRUNCATE clock, rivers, rivers_timelines, entries, folds, visits, leases, notice_clocks`)
}

// once does a sequence in an empty village and judges how it ends.
func (v *village) once(rt *rapid.T) {
	v.n = rapid.SampledFrom(v.nodes).Draw(rt, "node")
	v.empty()
	d := &doings{village: v, rt: rt}
	all := map[string]func(*rapid.T){}
	for _, some := range []map[string]func(*rapid.T){d.writing(), d.feeds(), d.following(), d.hiding(), d.operating()} {
		maps.Copy(all, some)
	}
	rt.Repeat(all)
	v.queue.drain(v.ctx, d.chance(), v.n)
	v.judge(rt)
}

// judge compares all rivers with what the check and the oracle say.
func (v *village) judge(rt *rapid.T) {
	report, err := v.n.rivers.Check(v.ctx)
	if err != nil {
		rt.Fatal(err)
	}
	for _, d := range report.Differences {
		rt.Errorf("check: %v", d)
	}
	for _, wrong := range v.miscounted() {
		rt.Errorf("counters: %s", wrong)
	}
	o, err := ask(v.ctx, v.db.Primary)
	if err != nil {
		rt.Fatal(err)
	}
	for _, wrong := range firstFew(o.audit()) {
		rt.Errorf("primary store: %s", wrong)
	}
	for _, viewer := range append([]timelines.Viewer{{}}, v.people...) {
		for _, n := range o.names(viewer.AccountID) {
			if diff := v.compare(v.n, o, viewer, n); diff != "" {
				rt.Errorf("oracle: %s", diff)
			}
		}
	}
}

// places are random destinations, at least least of them. Not everybody can write to
// all of them.
func (v *village) places(rt *rapid.T, least int) []string {
	all := append([]string{timelines.ToEyes}, v.names...)
	for _, name := range v.names[:3] {
		all = append(all, name+"/private", name+"/photos")
	}
	return rapid.SliceOfN(rapid.SampledFrom(all), least, 2).Draw(rt, "to")
}

// look visits a page, and perhaps opens it; what it shows is judged at the end.
func (v *village) look(rt *rapid.T, open bool) {
	viewer := rapid.SampledFrom(append([]timelines.Viewer{{}}, v.people...)).Draw(rt, "viewer")
	kind := rapid.SampledFrom(rivers.Kinds()).Draw(rt, "kind")
	of := ""
	switch kind {
	case rivers.User, rivers.Group, rivers.Likes, rivers.Comments:
		of = rapid.SampledFrom(v.names).Draw(rt, "of")
	case rivers.Subfeed:
		of = rapid.SampledFrom(v.names).Draw(rt, "of") + "/" + rapid.SampledFrom([]string{"private", "photos"}).Draw(rt, "slug")
	case rivers.List:
		of = "some"
	}
	if kind == rivers.Post {
		if len(v.posts) == 0 {
			return
		}
		of = rapid.SampledFrom(v.posts).Draw(rt, "post").Code
	}
	switch kind {
	case rivers.Hashtag:
		of = rapid.SampledFrom(tags).Draw(rt, "tag")
	case rivers.Everything, rivers.Best, rivers.MostFaved:
		of = rapid.SampledFrom(langs).Draw(rt, "language")
	case rivers.Search:
		of = rapid.SampledFrom(searches).Draw(rt, "search").text
	}
	order := rapid.SampledFrom([]rivers.Order{rivers.Fresh, rivers.Created}).Draw(rt, "order")
	n, err := v.n.rivers.Resolve(v.ctx, viewer, kind, of, order)
	if kind.HasModes() && rapid.Bool().Draw(rt, "friends only") {
		n = n.In(rivers.FriendsOnly)
	}
	var page *rivers.Page
	if err == nil {
		page, err = v.n.rivers.Visit(v.ctx, viewer, n, rivers.Cursor{})
	}
	if err == nil && open {
		err = v.n.rivers.Lease(v.ctx, []int64{page.River})
	}
	if err != nil && !expected(err) {
		rt.Fatalf("visit %s of %q: %v", kind, of, err)
	}
}
