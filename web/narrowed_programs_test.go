package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/rivers/lines"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/changes"
	"riverrun/timelines/tokens"
	"riverrun/web/webtest"
)

// A change waits, in the outbox or in the log, while its post is narrowed. From then on neither the API nor the log says on
// any node what may not be seen, nor does a webhook, although no message told the other node.
func TestNarrowedWhileAChangeWaits(t *testing.T) {
	t.Parallel()
	const text, remark = "the-first-words", "a-remark-of-cat"
	type town struct {
		ann, bob, cat, mia *webtest.Person
		post, comment      timelines.Change
	}
	for what, tc := range map[string]struct {
		to     string // where the post stands
		narrow func(w *town)
		hidden []string // what bob may not see any more
		kind   string   // of a line that bob gets
	}{
		"deleted":                   {"ann", func(w *town) { w.ann.Remove(w.post.Code) }, []string{text, remark}, "gone"},
		"gone private":              {"ann", func(w *town) { w.ann.SetAccess("", timelines.Private) }, []string{text, remark}, "access"},
		"in a group gone private":   {"club", func(w *town) { w.ann.SetAccess("club", timelines.Private) }, []string{text, remark}, "access"},
		"banned by the author":      {"ann", func(w *town) { w.ann.Ban("bob") }, []string{text, remark}, "access"},
		"the author banned":         {"ann", func(w *town) { w.bob.Ban("ann") }, []string{text, remark}, "access"},
		"banned, then deleted":      {"ann", func(w *town) { w.ann.Ban("bob"); w.ann.Remove(w.post.Code) }, []string{text, remark, "gone"}, "access"},
		"edited":                    {"ann", func(w *town) { w.ann.Edit(w.post.Code, "other words") }, []string{text}, "post"},
		"banned by a commenter":     {"ann", func(w *town) { w.cat.Ban("bob") }, []string{remark}, "post"},
		"the commenter banned":      {"ann", func(w *town) { w.bob.Ban("cat") }, []string{remark}, "post"},
		"excluded from a protected": {"ann", func(w *town) { w.ann.SetAccess("", timelines.Protected); w.ann.Exclude("", "bob") }, []string{text, remark}, "access"},
		"moved to the author's eyes": {"ann", func(w *town) {
			w.ann.Act(func(ctx context.Context) (timelines.Change, error) {
				return w.ann.Site.Store.Posts.Revise(ctx, w.ann.Account.ID, w.post.Code, timelines.Revision{To: []string{timelines.ToEyes}})
			})
		}, []string{text, remark}, "gone"},
		"a comment deleted": {"ann", func(w *town) {
			w.cat.Act(func(ctx context.Context) (timelines.Change, error) {
				return w.cat.Site.Store.Comments.Delete(ctx, w.cat.Account.ID, w.post.Code, w.comment.CommentID)
			})
		}, []string{remark}, "post"},
		"suspended and hidden": {"ann", func(w *town) {
			w.mia.Visitor().Post("/admin/people/ann/suspend", "reason", "rude", "days", "7", "hide", "1").Wants(303)
		}, []string{text, remark}, "access"},
	} {
		for where, relayed := range map[string]bool{"in the outbox": false, "in the log": true} {
			t.Run(what+", "+where, func(t *testing.T) {
				t.Parallel()
				s := webtest.New(t, nil)
				w := &town{ann: s.Person("ann"), bob: s.Person("bob"), cat: s.Person("cat"), mia: s.Person("mia")}
				inCharge(w.mia, admin.Administrator)
				w.ann.Visitor().Post("/groups", "name", "club", "title", "club", "access", "public").Wants(303)
				p := programOf(t, w.bob, tokens.Read, tokens.Changes)
				there := webtest.NewNode(t, s.DB, 0, rivers.DefaultOptions(), nil)
				other := &program{there, p.token}
				s.RelayChanges()
				log := changes.Open(s.Store, 0)
				bounds, err := log.Bounds(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				w.post = w.ann.Post(text, tc.to)
				w.comment = w.cat.Comment(w.post.Code, remark)
				shown := func(p *program) (all string) {
					t.Helper()
					for _, address := range []string{
						fmt.Sprint("/api/changes?limit=500&after=", bounds.Last), "/api/posts/" + w.post.Code,
						"/api/river?page=" + url.QueryEscape("/everything"), "/api/river?page=" + url.QueryEscape("/"+tc.to),
					} {
						v := p.Visitor()
						v.Header.Set("Authorization", "Bearer "+p.token)
						all += v.Get(address).Body + "\n"
					}
					return all
				}
				for _, p := range []*program{p, other} { // both nodes know it as it was
					if before := shown(p); !strings.Contains(before, text) || !strings.Contains(before, remark) {
						t.Fatalf("before it is narrowed bob is shown %s", before)
					}
				}
				if relayed {
					s.RelayChanges()
				}
				tc.narrow(w)
				s.RelayChanges()
				found, _, err := lines.Open(there.Rivers, log, "").ReadOn(t.Context(), lines.Reader{Viewer: timelines.Viewer{AccountID: w.bob.Account.ID}}, bounds.Last, 100)
				if err != nil {
					t.Fatal(err)
				}
				sent, err := json.Marshal(found)
				if err != nil {
					t.Fatal(err)
				}
				for from, all := range map[string]string{"the API": shown(p), "the API of the other node": shown(other), "a webhook": string(sent)} {
					if kind := `"kind":"` + tc.kind + `"`; !strings.Contains(all, kind) {
						t.Errorf("%s: no line of %s in %s", from, kind, all)
					}
					for _, hidden := range tc.hidden {
						if strings.Contains(all, hidden) {
							t.Errorf("%s says %s: %s", from, hidden, all)
						}
					}
				}
			})
		}
	}
}
