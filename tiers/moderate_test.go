package tiers_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
)

// R4 of groups: who is no member and no administrator of a private group any more,
// or not admitted to it, or is excluded from a protected one, is shown nothing of it
// by any node once Carry returned, though no worker and no bus runs. Let in again, they
// see it all.
func TestNothingOfALostGroupIsShown(t *testing.T) {
	for _, lost := range []string{"", "folds", "entries", "clock"} {
		for _, what := range []string{"removed", "demoted", "stepped down", "excluded", "dismissed"} {
			name := what
			if lost != "" {
				name += ", and then " + lost + " lost"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newTown(t)
				n, other := w.quiet(), w.quiet()
				ann, bob := w.quick("ann"), w.quick("bob")
				w.group(bob, "club", timelines.Public)
				member, level := true, timelines.Private
				switch what {
				case "excluded":
					member, level = false, timelines.Protected
				case "dismissed":
					member = false
				}
				moderate := func(v timelines.Viewer, do func(ctx context.Context, actor int64, group, name string) (timelines.Change, error)) {
					t.Helper()
					w.act(n, func(ctx context.Context) (timelines.Change, error) { return do(ctx, v.AccountID, "club", "ann") })
				}
				if member {
					w.follow(n, ann, "club")
				}
				switch what {
				case "demoted", "stepped down":
					moderate(bob, n.store.Groups.Promote)
					w.leave(n, ann, "club")
				case "dismissed":
					moderate(bob, n.store.Groups.Admit)
				}
				w.setAccess(n, bob, "club", level)
				post := w.post(n, bob, "among us", "club")
				w.like(n, ann, post.Code)
				// shown says where the account sees the post.
				shown := func(v timelines.Viewer) (places []string) {
					t.Helper()
					for name, n := range map[string]*node{"one": n, "other": other} {
						for _, at := range []struct {
							kind rivers.Kind
							of   string
						}{
							{rivers.Home, ""},
							{rivers.Everything, ""},
							{rivers.Group, "club"},
							{rivers.Likes, "ann"},
							{rivers.Discussions, ""},
							{rivers.Post, post.Code},
						} {
							r, err := n.rivers.Resolve(w.ctx, v, at.kind, at.of, rivers.Fresh)
							var page *rivers.Page
							if err == nil {
								page, err = n.rivers.Visit(w.ctx, v, r, rivers.Cursor{})
							}
							if errors.Is(err, rivers.ErrForbidden) || errors.Is(err, rivers.ErrNotFound) {
								continue
							}
							must(w, 0, err)
							if slices.ContainsFunc(page.Items, func(it rivers.Item) bool { return it.PostID == post.PostID }) {
								places = append(places, name+", "+string(at.kind))
							}
						}
						if _, _, err := n.rivers.Unfold(w.ctx, v, post.Code); err == nil {
							places = append(places, name+", unfolded")
						}
					}
					return places
				}
				if places := shown(ann); len(places) != 14 {
					t.Fatalf("to begin with ann sees the post in %q only", places)
				}
				switch what {
				case "removed":
					moderate(bob, n.store.Groups.RemoveMember)
				case "demoted":
					moderate(bob, n.store.Groups.Demote)
				case "excluded":
					moderate(bob, n.store.Groups.Exclude)
				case "dismissed":
					moderate(bob, n.store.Groups.Dismiss)
				default:
					moderate(ann, n.store.Groups.Demote)
				}
				if lost != "" {
					w.execSecondary(`TRUNCATE ` + lost)
				}
				if places := shown(ann); places != nil {
					t.Errorf("ann, %s, still sees the post in %q", what, places)
				}
				if places := shown(bob); len(places) < 6 {
					t.Errorf("bob sees the post in %q only", places)
				}
				w.queue.drain(w.ctx, w.chance(), n, other)
				if places := shown(ann); places != nil {
					t.Errorf("at rest, ann still sees the post in %q", places)
				}
				w.sound(n, "at rest")
				o, err := ask(w.ctx, w.db.Primary)
				must(w, o, err)
				for _, name := range o.names(ann.AccountID) {
					if diff := w.compare(n, o, ann, name); diff != "" {
						t.Errorf("oracle: %s", diff)
					}
				}
				switch what {
				case "excluded":
					moderate(bob, n.store.Groups.Unexclude)
				case "dismissed":
					moderate(bob, n.store.Groups.Admit)
				default:
					return
				}
				w.queue.drain(w.ctx, w.chance(), n, other)
				if places := shown(ann); len(places) != 14 {
					t.Errorf("let in again, ann sees the post in %q only", places)
				}
				w.sound(n, "let in again")
			})
		}
	}
}
