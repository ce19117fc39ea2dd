package rivers

import (
	"slices"
	"testing"

	"riverrun/timelines"
)

// For each promise there is a scenario that ends right, and that ends wrong when the
// protocol's step that keeps the promise is taken out. wrong reports whether it did. Where
// no step is named, make mutants takes it out.
func TestEachStepIsNeeded(t *testing.T) {
	type scene struct {
		*town
		ann, bob, cat timelines.Viewer
	}
	differs := func(s scene) bool {
		r, err := s.rivers.Check(s.ctx)
		return len(must(s.town, r, err).Differences) > 0
	}
	cases := []struct {
		promise, step string
		wrong         func(s scene, without bool) bool
	}{
		{
			promise: "R1: a river being built follows changes its builder did not see",
			wrong: func(s scene, _ bool) bool {
				s.post(s.bob, "one")
				s.forget()
				ctx := pausedAt(s.ctx, afterSnapshot, func() { s.post(s.bob, "two"); s.drain() })
				if err := s.rivers.build(ctx, s.name(s.ann, Home, ""), ForVisit, nil); err != nil {
					s.t.Fatal(err)
				}
				return differs(s)
			},
		},
		{
			promise: "R2: an older snapshot never replaces a newer one",
			wrong: func(s scene, _ bool) bool {
				p := s.post(s.cat, "a stranger's")
				s.forget()
				s.visit(s.ann, Home, "")
				like := s.like(s.bob, p.Code)
				s.forget()
				ctx := pausedAt(s.ctx, afterSnapshot, func() { s.unlike(s.bob, p.Code); s.drain() })
				touched := []timelines.Touched{{PostID: like.PostID, Timelines: like.Touched}}
				if err := s.rivers.Distribute(ctx, touched, All); err != nil {
					s.t.Fatal(err)
				}
				return differs(s)
			},
		},
		{
			promise: "R2: an older snapshot does not bring back what a newer one saw gone",
			wrong: func(s scene, _ bool) bool {
				s.visit(s.ann, Home, "")
				p := s.post(s.bob, "short-lived")
				s.forget()
				ctx := pausedAt(s.ctx, afterSnapshot, func() { s.remove(s.bob, p.Code); s.drain() })
				touched := []timelines.Touched{{PostID: p.PostID, Timelines: p.Touched}}
				if err := s.rivers.Distribute(ctx, touched, All); err != nil {
					s.t.Fatal(err)
				}
				return differs(s)
			},
		},
		{
			promise: "R3: my own change is in my rivers when my request is answered",
			step:    "Tier 0",
			wrong: func(s scene, without bool) bool {
				s.visit(s.ann, Home, "")
				p := s.post(s.ann, "mine")
				if !without {
					touched := []timelines.Touched{{PostID: p.PostID, Timelines: p.Touched}}
					if err := s.rivers.Distribute(s.ctx, touched, Scope{Actor: s.ann.AccountID}); err != nil {
						s.t.Fatal(err)
					}
				}
				return !slices.Equal(bodies(s.visit(s.ann, Home, "")), []string{"mine"})
			},
		},
		{
			promise: "R4: a node forgets what a narrowing took away",
			step:    "the access clock",
			wrong: func(s scene, without bool) bool {
				s.post(s.bob, "not for everybody much longer")
				s.visit(timelines.Viewer{}, Everything, "")
				c, err := s.store.Feeds.SetAccess(s.ctx, s.bob.AccountID, "", timelines.Private)
				must(s.town, c, err)
				if !without {
					if err := s.rivers.PublishClock(s.ctx, c.Clock); err != nil {
						s.t.Fatal(err)
					}
				}
				return len(s.visit(timelines.Viewer{}, Everything, "").Items) > 0
			},
		},
		{
			promise: "R4: what was deleted is in no fold",
			step:    "the fold before the reply",
			wrong: func(s scene, without bool) bool {
				s.rivers.opts.Few = 0 // where many rivers hold the post, ann's follows later
				p := s.post(s.bob, "regretted")
				s.forget()
				s.visit(s.ann, Home, "")
				c := s.remove(s.bob, p.Code)
				if !without {
					touched := []timelines.Touched{{PostID: p.PostID, Timelines: c.Touched}}
					if err := s.rivers.Distribute(s.ctx, touched, Scope{Actor: s.bob.AccountID}); err != nil {
						s.t.Fatal(err)
					}
				}
				return len(s.visit(s.ann, Home, "").Items) > 0
			},
		},
		{
			promise: "R5: readers look no deeper than the river is complete",
			step:    "the floor",
			wrong: func(s scene, without bool) bool {
				// An old post far below the floor gets an entry by an event that lifts nothing.
				// Between it and the floor nothing is stored.
				deep := s.post(s.bob, "deep")
				s.like(s.cat, deep.Code)
				for i := range chunk + 10 {
					s.post(s.bob, numbered(i))
				}
				s.forget()
				p := s.visit(s.ann, Home, "")
				touched := []timelines.Touched{{PostID: deep.PostID, Timelines: deep.Touched}}
				if err := s.rivers.Distribute(s.ctx, touched, All); err != nil {
					s.t.Fatal(err)
				}
				if without {
					s.exec(`UPDATE rivers SET floor = -9223372036854775808, finished = true`)
				}
				seen := 0
				for at := (Cursor{}); ; at = p.Next {
					var err error
					if p, err = s.rivers.Visit(s.ctx, s.ann, p.Name, at); err != nil {
						s.t.Fatal(err)
					}
					seen += len(p.Items)
					if !p.More {
						return seen != chunk+11
					}
				}
			},
		},
		{
			promise: "R7: a table lost alone is a lost epoch",
			step:    "the trigger",
			wrong: func(s scene, without bool) bool {
				s.post(s.bob, "one")
				s.forget()
				s.visit(s.ann, Home, "")
				if without {
					s.exec(`DROP TRIGGER entries_truncated ON entries`)
				}
				s.exec(`TRUNCATE entries`)
				return !slices.Equal(bodies(s.visit(s.ann, Home, "")), []string{"one"})
			},
		},
	}
	for _, c := range cases {
		t.Run(c.promise, func(t *testing.T) {
			for _, out := range []bool{false, true} {
				if out && c.step == "" {
					continue
				}
				w := newTown(t)
				s := scene{w, w.person("ann"), w.person("bob"), w.person("cat")}
				w.follow(s.ann, "bob")
				w.forget()
				if got := c.wrong(s, out); got != out {
					t.Errorf("with the step taken out %v (%s): wrong is %v", out, c.step, got)
				}
			}
		})
	}
}

// A deleted post stands in no timeline any more, and yet it leaves every river that held
// it: its author's before the reply, others' with the job. A river that is being built does
// not bring it back.
func TestADeletedPostLeavesItsRivers(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(bob, "ann")
	p := w.post(ann, "a post")
	w.like(cat, p.Code)
	w.forget()
	for _, kind := range []Kind{Home, Everything} {
		w.shows(w.visit(ann, kind, ""), "a post")
		w.shows(w.visit(bob, kind, ""), "a post")
	}
	holding := func(whose timelines.Viewer) int {
		return w.count(`SELECT count(*) FROM entries e JOIN rivers r ON r.id = e.river_id WHERE NOT e.deleted AND r.user_id = $1`, whose.AccountID)
	}
	var c timelines.Change
	ctx := pausedAt(w.ctx, afterSnapshot, func() {
		c = w.remove(ann, p.Code)
		touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
		must(w, 0, w.rivers.Distribute(w.ctx, touched, Scope{Actor: c.Actor}))
		if got := holding(ann); got != 0 {
			t.Errorf("the author's rivers hold it %d times after the reply, want none", got)
		}
	})
	must(w, 0, w.rivers.build(ctx, w.name(cat, Likes, "cat"), ForVisit, nil))
	w.drain()
	for _, v := range []timelines.Viewer{bob, cat} {
		if got := holding(v); got != 0 {
			t.Errorf("rivers of %d hold it %d times, want none", v.AccountID, got)
		}
	}
	w.shows(w.visit(cat, Likes, "cat"))
	w.sound()
}
