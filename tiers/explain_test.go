package tiers_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
)

// An explanation says of each page what the page says, and why.
func TestExplain(t *testing.T) {
	w := newTown(t)
	n := w.quiet()
	ann, bob, cat := w.quick("ann"), w.quick("bob"), w.quick("cat")
	w.follow(n, ann, "cat")
	post := w.post(n, bob, "from bob")
	w.like(n, cat, post.Code)
	w.visit(n, ann, rivers.Home, "")
	of := func(v timelines.Viewer) *rivers.Explanation {
		t.Helper()
		x, err := n.rivers.Explain(w.ctx, v.AccountID, post.Code)
		return must(w, x, err)
	}
	at := func(v timelines.Viewer, kind rivers.Kind) rivers.Standing {
		t.Helper()
		x := of(v)
		i := slices.IndexFunc(x.Standings, func(st rivers.Standing) bool { return st.Name.Kind == kind })
		if i < 0 {
			t.Fatalf("nothing is said of %s: %+v", kind, x)
		}
		return x.Standings[i]
	}
	home := at(ann, rivers.Home)
	if home.Cause != rivers.Shown || home.River == 0 || home.Stored == 0 || len(home.Why) != 1 || home.Why[0].Kind != kinds.Likes {
		t.Errorf("ann's home: %+v, want the post shown from cat's likes, in a river", home)
	}
	if st := at(ann, rivers.Everything); st.Cause != rivers.Shown || st.River != 0 {
		t.Errorf("everything, which ann never visited: %+v, want the post shown in no river", st)
	}
	if st := at(ann, rivers.Discussions); st.Cause != rivers.Unheld {
		t.Errorf("ann's discussions: %+v, want nothing holding it", st)
	}
	hide := func(name string) {
		w.act(n, func(ctx context.Context) (timelines.Change, error) {
			return n.store.Hides.HideAccount(ctx, ann.AccountID, name)
		})
	}
	hide("cat")
	if st := at(ann, rivers.Home); st.Cause != rivers.Reasonless {
		t.Errorf("home, cat hidden: %+v, want no reason left", st)
	}
	hide("bob")
	w.visit(n, ann, rivers.Post, w.post(n, cat, "from cat").Code)
	pages := 0
	for _, st := range of(ann).Standings {
		if st.Name.Kind == rivers.Post {
			pages++
		}
		shows := st.Name.Kind == rivers.Post || st.Name.Account() == bob.AccountID
		if (st.Cause == rivers.Shown) != shows && st.Cause != rivers.Unheld {
			t.Errorf("bob hidden: %+v, want it shown: %v", st, shows)
		}
	}
	if pages != 1 {
		t.Errorf("told of the pages of %d posts, want its own alone", pages)
	}
	if x := of(ann); !x.Sees || x.Hide.Cause != rivers.HiddenAuthor || at(ann, rivers.Everything).Cause != rivers.Hidden {
		t.Errorf("bob hidden: %+v", x)
	}
	w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Hides.UnhideAccount(ctx, ann.AccountID, "bob")
	})
	w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Hides.HideTerm(ctx, ann.AccountID, "From  Bob")
	})
	term := rivers.Hide{Cause: rivers.HiddenTerm, Term: access.Term{"from", "bob"}}
	if x, st := of(ann), at(ann, rivers.User); !reflect.DeepEqual(x.Hide, term) || st.Cause != rivers.Hidden || !reflect.DeepEqual(st.Hide, term) {
		t.Errorf("its words hidden: %+v, on bob's page %+v", x.Hide, st)
	}
	w.act(n, func(ctx context.Context) (timelines.Change, error) {
		_, c, err := n.store.Hides.HidePost(ctx, ann.AccountID, post.Code)
		return c, err
	})
	if x := of(ann); x.Hide.Cause != rivers.HiddenPost {
		t.Errorf("itself hidden: %+v", x.Hide)
	}
	w.ban(n, bob, "ann")
	if x := of(ann); x.Sees || !x.Banned || at(ann, rivers.User).Cause != rivers.Closed || at(ann, rivers.Everything).Cause != rivers.Banned {
		t.Errorf("banned by bob: %+v", x)
	}
	w.setAccess(n, bob, "", timelines.Private)
	if x := of(cat); x.Sees || x.Grants[0].Opens || x.Grants[0].Level != timelines.Private || at(cat, rivers.Everything).Cause != rivers.Unreadable {
		t.Errorf("bob gone private: %+v", x)
	}
	w.remove(n, bob, post.Code)
	if x := of(bob); !x.Deleted || x.Sees {
		t.Errorf("deleted: %+v", x)
	}
	for _, code := range []string{"0000000000", "", "../.."} {
		if _, err := n.rivers.Explain(w.ctx, ann.AccountID, code); !errors.Is(err, timelines.ErrNotFound) {
			t.Errorf("explaining %q: got %v, want %v", code, err, timelines.ErrNotFound)
		}
	}
}

// explained compares explanations with what the oracle says of the same pages.
func (w *town) explained(n *node, viewers []timelines.Viewer, posts int) {
	w.t.Helper()
	o, err := ask(w.ctx, w.db.Primary)
	if err != nil {
		w.t.Fatal(err)
	}
	asked := 0
	for _, p := range o.posts { // in Go's random order
		if posts--; posts < 0 {
			break
		}
		for _, v := range viewers {
			x, err := n.rivers.Explain(w.ctx, v.AccountID, p.Code)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, st := range x.Standings {
				asked++
				want := o.refused(st.Name) == nil &&
					slices.ContainsFunc(o.expect(st.Name), func(s shown) bool { return s.Post == p.ID })
				if got := st.Cause == rivers.Shown; got != want {
					w.t.Errorf("post %d for %d in %+v: explained as %s, but the page shows it: %v", p.ID, v.AccountID, st.Name, st.Cause, want)
				}
			}
		}
	}
	w.t.Logf("%d explanations compared with the oracle", asked)
}
