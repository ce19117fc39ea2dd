package strategies

import (
	"context"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
)

// Entry is one post of a home feed.
type Entry struct {
	PostID int64
	Place  int64 // microseconds; the feed's order is (Place, PostID) descending
}

func (e Entry) cursor() rivers.Cursor { return rivers.Cursor{Place: e.Place, PostID: e.PostID} }

// Page is one page of a home feed.
type Page struct {
	Entries []Entry // newest first
	// More: older entries may exist. Next is the place below which they are.
	More bool
	Next rivers.Cursor
	// Texts has what its posts say, by id, and perhaps what others say, if feeds embed texts
	// (Stores.Texts). Posts that are read elsewhere have none.
	Texts map[int64]string
}

// Strategy makes home feeds. Implementations are safe for concurrent use.
type Strategy interface {
	// Page returns the entries of the viewer's home feed that follow below a place, newest
	// first, at most limit of them. The zero cursor is the top. A page may come out short, even
	// empty, though older entries exist, if finding them would take too long. More and Next say
	// how to go on. Errors: rivers.ErrSignInNeeded for an anonymous viewer,
	// timelines.ErrSignedOut if the viewer's session ended.
	Page(ctx context.Context, viewer timelines.Viewer, below rivers.Cursor, limit int) (Page, error)
	// Apply brings committed changes into what is stored. It is told which posts and viewers
	// are concerned, and reads what became of them. So it may be repeated, and the order does
	// not matter. Pages show a change when Apply has returned; what they must not show any
	// more they do not show even before. Events that concern no home feed do nothing.
	Apply(ctx context.Context, events ...timelines.Event) error
	// ApplyOwn brings changes into the actor's own feed alone, before the change is answered
	// (R3). The actor's next page shows them. Apply still follows, in the background.
	ApplyOwn(ctx context.Context, actor int64, events ...timelines.Event) error
}

// Stepper is a strategy that stores feeds. It brings a change to very many of them in steps.
type Stepper interface {
	Strategy
	// ApplyStep is the next step of Apply of one event, some seconds of work. The first begins
	// from the zero Progress, and the next one from next while there is more. A step may be
	// repeated.
	ApplyStep(ctx context.Context, from Progress, event timelines.Event) (next Progress, more bool, err error)
}

// Progress is how far a change has come: to this follower of this account, in the order of accounts
// and followers.
type Progress struct{ Account, Follower int64 }

// Filler is a strategy that keeps a feed for each viewer, whether or not they read it. A feed comes
// into being by its first page or by Fill.
type Filler interface {
	Strategy
	// Fill stores the viewer's feed, as far as the strategy keeps it, if it is not stored yet. If it is cut off, the next
	// call goes on where it ended.
	Fill(ctx context.Context, viewer int64) error
}

// Expirer is a strategy whose store has to be cleaned up now and then.
type Expirer interface {
	// Expire removes what is out of use. It may be called at any time, by any node.
	Expire(ctx context.Context) error
}

// Events returns the events of a change, for ApplyOwn before the change is answered (R3). The
// same events are announced in the change's transaction.
func Events(c timelines.Change) []timelines.Event {
	var events []timelines.Event
	if c.PostID != 0 {
		events = append(events, timelines.Touched{PostID: c.PostID, Timelines: c.Touched})
	}
	if len(c.Rewritten) > 0 {
		events = append(events, timelines.TouchedBatch(c.Rewritten))
	}
	for _, r := range c.Replace {
		events = append(events, r)
	}
	return events
}

// ofViewer is a change of one viewer's home feed, in that transaction of the primary store; 0:
// unknown. rights says that the viewer may read other posts now; otherwise only the
// subscriptions changed.
type ofViewer struct {
	viewer, tx int64
	rights     bool
}

// changes are events, by how a feed is concerned.
type changes struct {
	touched []timelines.Touched
	// replaced have other home feeds: these viewers, the followers of these accounts and the
	// accounts themselves, or everybody.
	viewers   []ofViewer
	accounts  []int64
	everybody bool
	// tx is the transaction that concerns accounts or everybody; 0: unknown, or several do.
	tx int64
}

func sorted(events []timelines.Event) (c changes) {
	for _, e := range events {
		switch e := e.(type) {
		case timelines.Touched:
			c.touched = append(c.touched, e)
		case timelines.TouchedBatch:
			c.touched = append(c.touched, e...)
		case timelines.Replace:
			switch {
			case !ofHome(e):
			case e.AccountID != 0 || e.Everybody:
				if c.tx = e.Tx; len(c.accounts) > 0 || c.everybody {
					c.tx = 0
				}
				if c.everybody = c.everybody || e.AccountID == 0; e.AccountID != 0 {
					c.accounts = append(c.accounts, e.AccountID)
				}
			case e.ViewerID != 0:
				c.viewers = append(c.viewers, ofViewer{e.ViewerID, e.Tx, len(e.Kinds) == 0})
			}
		}
	}
	return c
}

// ofHome reports whether home feeds are among the rivers that a Replace names.
func ofHome(r timelines.Replace) bool {
	return (len(r.Kinds) == 0 || slices.Contains(r.Kinds, timelines.RiverHome)) && len(r.Terms) == 0 && len(r.TheirIDs) == 0
}
