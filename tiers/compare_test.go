package tiers_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/notices"
)

// shownItem puts what a page shows into the oracle's plain values.
func shownItem(it rivers.Item, whole string) shown {
	f := it.Fold
	s := shown{
		Post: it.PostID, Place: it.Place, Version: it.Stamp.Fold, Code: f.Text.Code, Author: f.Text.Author,
		Body: f.Text.Body, Cut: f.Text.Cut, Full: it.Full, Created: f.Text.CreatedAt, Edited: f.Text.EditedAt,
		Decisive: f.Decisive, Liked: it.Liked, Faved: it.Faved, Faves: f.Faves, Hidden: it.Hidden,
		Likes: it.Likes().Total, Likers: it.Likes().IDs,
		Comments: f.Comments.Total, Commenters: slices.DeleteFunc(slices.Clone(f.Comments.IDs), it.Hides),
	}
	if l := f.Text.Listing; l != nil {
		s.Offer = offered(l.State, l.Price)
	}
	// How a long body is cut is the fold's own affair, as long as it is its beginning.
	if s.Cut && len(s.Body) < len(whole) && strings.HasPrefix(whole, s.Body) {
		s.Body = whole
	}
	s.Why, s.To = idsOf(it.Why), idsOf(it.To)
	for _, c := range f.Comments.Shown {
		if it.Hides(c.Author) {
			s.Remarks = append(s.Remarks, shownRemark{ID: c.ID})
			continue
		}
		s.Remarks = append(s.Remarks, shownRemark{
			ID: c.ID, Author: c.Author, Body: c.Body, Created: c.CreatedAt, Edited: c.EditedAt,
			Likes: it.CommentLikes(&c).Total, Likers: it.CommentLikes(&c).IDs,
		})
	}
	return s
}

func idsOf(list []timelines.Timeline) []int64 {
	var ids []int64
	for _, t := range list {
		ids = append(ids, t.ID)
	}
	return ids
}

// compare pages a river to its very end on a node and says where it is not what
// the oracle expects; empty if nowhere.
func (w *town) compare(n *node, o *oracle, v timelines.Viewer, name rivers.Name) string {
	what := fmt.Sprintf("%s %q of %d for %d by %s", name.Kind, name.Term, name.TheirID, name.UserID, name.Order)
	refused := o.refused(name)
	mentions := map[int64]int{} // posts in which nothing else happened, by who named the viewer there
	want := o.expect(name)
	var got []shown
	at := rivers.Cursor{}
	for {
		page, err := n.rivers.Visit(w.ctx, v, name, at)
		if err != nil || refused != nil {
			if !errors.Is(err, refused) {
				return fmt.Sprintf("%s: got error %v, want %v", what, err, refused)
			}
			return ""
		}
		for _, it := range page.Items {
			if g := it.Notice; g != nil && len(g.Groups) == 1 && g.Groups[0].Kind == notices.Mention && len(g.Groups[0].Actors) == 1 {
				if by := g.Groups[0].Actors[0]; !o.follows[pair{v.AccountID, by}] {
					mentions[by]++
				}
			}
			got = append(got, shownItem(it, o.posts[it.PostID].Body))
			if it.Stamp.Entry < 1 || it.Stamp.Entry > o.posts[it.PostID].Version {
				return fmt.Sprintf("%s: post %d has entry version %d, the post has %d",
					what, it.PostID, it.Stamp.Entry, o.posts[it.PostID].Version)
			}
		}
		if page.More && len(page.Items) != rivers.PageSize || !at.Top() && len(page.Items) == 0 || len(got) > 2*len(o.posts) {
			return fmt.Sprintf("%s: a page of %d after %d entries, more: %v", what, len(page.Items), len(got), page.More)
		}
		if !page.More {
			break
		}
		at = page.Next
	}
	if name.Kind == rivers.Notifications {
		// Nobody reads here, so all that is shown is unread, and requests wait too.
		// Posts that name the viewer count once if one person wrote them whom the viewer does not follow.
		unread := len(want) + o.waiting(v.AccountID)
		for _, posts := range mentions {
			unread -= posts - 1
		}
		unread = min(unread, rivers.MaxCounted)
		now, err := n.rivers.Notices(w.ctx, v.AccountID)
		counts := []int{-1}
		if err == nil {
			counts, err = n.rivers.Unread(w.ctx, []rivers.UnreadAsk{now})
		}
		if err != nil || counts[0] != unread {
			return fmt.Sprintf("%s: %v unread, %v; want %d", what, counts, err, unread)
		}
	}
	diff := gocmp.Diff(want, got, gocmp.Comparer(func(a, b []int64) bool { return slices.Equal(a, b) }))
	if diff == "" {
		return ""
	}
	return fmt.Sprintf("%s: %d entries, want %d (-want +got):\n%s", what, len(got), len(want), diff)
}

// agree compares all rivers of these viewers, and the pages of that number of posts
// (all if negative), with the oracle. Rivers are read on the nodes in turn.
func (w *town) agree(when string, viewers []timelines.Viewer, posts int, nodes ...*node) {
	w.t.Helper()
	o, err := ask(w.ctx, w.db.Primary)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, wrong := range firstFew(o.audit()) {
		w.t.Errorf("%s: primary store: %s", when, wrong)
	}
	var wrong []string
	turn := 0
	one := func(v timelines.Viewer, name rivers.Name) {
		turn++
		if diff := w.compare(nodes[turn%len(nodes)], o, v, name); diff != "" {
			wrong = append(wrong, diff)
		}
	}
	for _, v := range viewers {
		for _, name := range o.names(v.AccountID) {
			one(v, name)
		}
		left := posts
		for id := range o.posts { // in Go's random order
			if left == 0 {
				break
			}
			left--
			one(v, rivers.Name{UserID: v.AccountID, Kind: rivers.Post, TheirID: id, Order: rivers.Fresh})
		}
	}
	for _, diff := range firstFew(wrong) {
		w.t.Errorf("%s: oracle: %s", when, diff)
	}
	w.t.Logf("%s: %d rivers of %d posts compared with the oracle, %d differ", when, turn, len(o.posts), len(wrong))
}

func firstFew(list []string) []string {
	if len(list) > 5 {
		return append(slices.Clone(list[:5]), fmt.Sprintf("and %d more", len(list)-5))
	}
	return list
}

// No river kind is left out of what is compared: one that is new is asked for by
// every random reader, and here the oracle is asked for it.
func TestTheOracleKnowsEveryKind(t *testing.T) {
	w := newTown(t)
	n := w.quiet()
	ann := w.quick("ann")
	w.group(ann, "club", timelines.Public)
	if _, _, err := w.store.Lists.Create(w.ctx, timelines.NewList{Actor: ann.AccountID, Title: "Some"}); err != nil {
		t.Fatal(err)
	}
	w.post(n, ann, "words")
	o, err := ask(w.ctx, w.db.Primary)
	if err != nil {
		t.Fatal(err)
	}
	names := append(o.names(ann.AccountID), rivers.Name{Kind: rivers.Post}) // as agree has it
	for _, kind := range rivers.Kinds() {
		for _, order := range kind.Orders() {
			if !slices.ContainsFunc(names, func(n rivers.Name) bool {
				return n.Kind == kind && n.Order == order || n.Kind == kind && kind == rivers.Post
			}) {
				t.Errorf("the oracle names no %s river by %s", kind, order)
			}
		}
	}
}
