package moderation_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/moderation"
	"riverrun/timelines/reports"
)

func TestMain(m *testing.M) { testdb.Main(m) }

type town struct {
	*testing.T
	*timelines.Store
	opinions *moderation.Store
}

func newTown(t *testing.T) *town {
	t.Parallel()
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	store := timelines.Open(testdb.New(t).Primary, nil, o)
	return &town{t, store, moderation.Open(store)}
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) person(name string) timelines.Account {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Password: "a long enough one"})
	w.must(err)
	return a
}

func (w *town) staff(name string, role admin.Role) admin.By {
	w.Helper()
	a := w.person(name)
	_, err := admin.Open(w.Store).SetRole(w.Context(), admin.By{}, name, role)
	w.must(err)
	return admin.By{AccountID: a.ID}
}

func (w *town) post(author int64) string {
	w.Helper()
	c, err := w.Posts.Create(w.Context(), timelines.NewPost{Author: author, Body: "hello"})
	w.must(err)
	return c.Code
}

// state is "blocked", with the reason that its author sees, or "open".
func (w *town) state(author int64, code string) string {
	w.Helper()
	h, err := w.Posts.Held(w.Context(), author, code)
	w.must(err)
	p, err := w.opinions.Find(w.Context(), author, code)
	w.must(err)
	if p.Blocked != (h.Status == 2) {
		w.Errorf("the staff see %t, the author sees status %d", p.Blocked, h.Status)
	}
	if !p.Blocked {
		return "open"
	}
	return "blocked: " + h.Reason
}

func opinion(origin string, no int64, d moderation.Decision, reason string) moderation.Opinion {
	return moderation.Opinion{Origin: origin, ID: strconv.FormatInt(no, 10), No: no, Decision: d, Reason: reason}
}

// The opinions of an origin count by its numbers, in whatever order they come, and one that comes again changes nothing (G12).
func TestOpinionsInAnyOrder(t *testing.T) {
	w := newTown(t)
	bob, mod := w.person("bob"), w.staff("olga", admin.Moderator)
	all := []moderation.Opinion{
		opinion("scan", 1, moderation.Block, "one"), opinion("scan", 2, moderation.Allow, ""),
		opinion("scan", 3, moderation.Note, "looked again"), opinion("scan", 4, moderation.Block, "four"), opinion("scan", 5, moderation.Allow, ""),
	}
	for try := range 12 {
		code, last := w.post(bob.ID), 3+try%2 // the last decision is to block or to allow
		want := []string{"blocked: four", "open"}[try%2]
		list := append([]moderation.Opinion(nil), all[:last+1]...)
		for i := range list {
			list[i].ID = code + list[i].ID
		}
		list = append(list, list...) // each comes twice
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, o := range list {
			_, g, err := w.opinions.Give(t.Context(), mod, code, o)
			w.must(err)
			if g.Blocked != strings.HasPrefix(w.state(bob.ID, code), "blocked") {
				t.Errorf("the answer to %+v is %+v, and the post is %s", o, g, w.state(bob.ID, code))
			}
		}
		if got := w.state(bob.ID, code); got != want {
			t.Errorf("%v left the post %s, want %s", list, got, want)
		}
		p, err := w.opinions.Find(t.Context(), bob.ID, code)
		w.must(err)
		if len(p.Rows) != last+1 {
			t.Errorf("there are %d rows, want %d", len(p.Rows), last+1)
		}
	}
}

// A post is blocked while one origin says so; when the staff allow it, what others said before does not count any more.
func TestOriginsTogether(t *testing.T) {
	w := newTown(t)
	bob, mod := w.person("bob"), w.staff("olga", admin.Moderator)
	code := w.post(bob.ID)
	var no int64
	give := func(origin string, d moderation.Decision, reason, want string, counts bool) {
		t.Helper()
		no++
		_, g, err := w.opinions.Give(t.Context(), mod, code, opinion(origin, no, d, reason))
		w.must(err)
		if got := w.state(bob.ID, code); got != want || g.Counts != counts {
			t.Errorf("%s by %s: %s, want %s; counts: %t", d, origin, got, want, g.Counts)
		}
	}
	decide := func(d moderation.Decision, reason, want string) {
		t.Helper()
		_, err := w.opinions.Decide(t.Context(), mod, code, d, reason)
		w.must(err)
		if got := w.state(bob.ID, code); got != want {
			t.Errorf("%s by the staff: %s, want %s", d, got, want)
		}
	}
	give("scan", moderation.Block, "spam", "blocked: spam", true)
	give("links", moderation.Block, "bad link", "blocked: bad link", true)
	give("links", moderation.Allow, "", "blocked: spam", true)
	decide(moderation.Note, "an appeal waits", "blocked: spam")
	decide(moderation.Allow, "", "open")
	counting := func() (list []string) {
		p, err := w.opinions.Find(t.Context(), bob.ID, code)
		w.must(err)
		for _, o := range p.Rows {
			if o.Counts {
				list = append(list, o.Origin+" "+string(o.Decision))
			}
		}
		return list
	}
	if got := counting(); !slices.Equal(got, []string{"staff allow"}) {
		t.Errorf("after the staff allowed it, %v count", got)
	}
	give("scan", moderation.Note, "hm", "open", true)
	give("scan", moderation.Block, "spam again", "blocked: spam again", true)
	decide(moderation.Block, "agreed", "blocked: agreed")
	give("scan", moderation.Allow, "", "blocked: agreed", true)
	decide(moderation.Allow, "", "open")
	// A program's opinion that comes late says nothing new.
	_, g, err := w.opinions.Give(t.Context(), mod, code, moderation.Opinion{Origin: "scan", ID: "late", No: 2, Decision: moderation.Block, Reason: "late"})
	w.must(err)
	if g.Counts || g.Blocked {
		t.Errorf("an old opinion counts: %+v", g)
	}
	acts, err := admin.Open(w.Store).Acts(t.Context(), "bob", 0, 20)
	w.must(err)
	var kinds []string
	for _, a := range acts {
		kinds = append(kinds, a.Kind)
	}
	if got := strings.Join(kinds, " "); got != "block_post allow_post allow_post block_post block_post allow_post note_post allow_post block_post block_post" {
		t.Errorf("the audit log has %s", got)
	}
}

// An author appeals while a post is blocked, once for each post, and that is no appeal against a suspension.
func TestAppealAgainstABlock(t *testing.T) {
	w := newTown(t)
	bob, mod := w.person("bob"), w.staff("olga", admin.Moderator)
	code, other := w.post(bob.ID), w.post(bob.ID)
	all := reports.Open(w.Store)
	appeal := func(by int64, code string) error {
		_, err := all.AppealPost(t.Context(), by, code, "why?")
		return err
	}
	if err := appeal(bob.ID, code); !errors.Is(err, timelines.ErrNotFound) {
		t.Errorf("an appeal against nothing: %v", err)
	}
	for i, code := range []string{code, other} {
		o := opinion("scan", int64(i+1), moderation.Block, "spam")
		_, _, err := w.opinions.Give(t.Context(), mod, code, o)
		w.must(err)
		if err := appeal(mod.AccountID, code); !errors.Is(err, timelines.ErrNotFound) {
			t.Errorf("an appeal of somebody else: %v", err)
		}
		w.must(appeal(bob.ID, code))
	}
	if invalid, ok := errors.AsType[*timelines.InvalidError](appeal(bob.ID, code)); !ok || invalid.Code != "appeal_again" {
		t.Errorf("an appeal twice: %v", invalid)
	}
	if is, err := all.LatestAppeal(t.Context(), bob.ID); !errors.Is(err, timelines.ErrNotFound) {
		t.Errorf("the appeal against a suspension is %+v, %v", is, err)
	}
}

// Opinions are refused that are wrong, or of those who may not give them.
func TestOpinionsRefused(t *testing.T) {
	w := newTown(t)
	bob, mod, boss := w.person("bob"), w.staff("olga", admin.Moderator), w.staff("chief", admin.Administrator)
	code := w.post(bob.ID)
	ok := opinion("scan", 1, moderation.Block, "spam")
	_, _, err := w.opinions.Give(t.Context(), mod, code, ok)
	w.must(err)
	for name, tc := range map[string]struct {
		by   admin.By
		code string
		with func(*moderation.Opinion)
		want string
	}{
		"somebody else":      {admin.By{AccountID: bob.ID}, code, nil, "forbidden"},
		"their own post":     {mod, w.post(mod.AccountID), nil, "forbidden"},
		"an administrator's": {mod, w.post(boss.AccountID), nil, "forbidden"},
		"no post":            {mod, "0000000000", nil, "not found"},
		"the staff's name":   {mod, code, func(o *moderation.Opinion) { o.Origin = moderation.Staff }, "origin: opinion_origin"},
		"no origin":          {mod, code, func(o *moderation.Opinion) { o.Origin = "a b" }, "origin: opinion_origin"},
		"no id":              {mod, code, func(o *moderation.Opinion) { o.ID = "" }, "opinion_id: opinion_id"},
		"a long id":          {mod, code, func(o *moderation.Opinion) { o.ID = strings.Repeat("x", 201) }, "opinion_id: opinion_id"},
		"a note of nothing":  {mod, code, func(o *moderation.Opinion) { o.Decision, o.Reason = moderation.Note, "" }, "reason: text_empty"},
		"a NUL":              {mod, code, func(o *moderation.Opinion) { o.ID = "\x00" }, "opinion_id: opinion_id"},
		"no number":          {mod, code, func(o *moderation.Opinion) { o.No = 0 }, "no: opinion_no"},
		"no decision":        {mod, code, func(o *moderation.Opinion) { o.Decision = "hide" }, "decision: opinion_decision"},
		"no reason":          {mod, code, func(o *moderation.Opinion) { o.Reason = " " }, "reason: text_empty"},
		"a long reason":      {mod, code, func(o *moderation.Opinion) { o.Reason = strings.Repeat("x", 2001) }, "reason: text_long"},
		"an id used":         {mod, code, func(o *moderation.Opinion) { o.ID, o.Reason = "1", "something else" }, "opinion_id: opinion_used"},
	} {
		o := opinion("scan", 2, moderation.Block, "spam")
		if tc.with != nil {
			tc.with(&o)
		}
		_, _, err := w.opinions.Give(t.Context(), tc.by, tc.code, o)
		got := "nothing"
		var invalid *timelines.InvalidError
		switch {
		case errors.Is(err, timelines.ErrForbidden):
			got = "forbidden"
		case errors.Is(err, timelines.ErrNotFound):
			got = "not found"
		case errors.As(err, &invalid):
			got = invalid.Field + ": " + invalid.Code
		case err != nil:
			t.Fatal(err)
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	if got := w.state(bob.ID, code); got != "blocked: spam" {
		t.Errorf("the post is %s", got)
	}
}
