package rivers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
	"riverrun/timelines/notices"
	"riverrun/timelines/snapshot"
)

// A river of notifications holds posts; why each is there, and what of it is unread, comes
// from the node's memory of the viewer's notifications (package notices). It is read at the
// viewer's notice clock, which the page's own statement returns. So a warm page stays one
// statement, and neither its entries nor the number of those unread tell of an event that was
// taken back before the page was asked for.

// Notice is why a post stands among the viewer's notifications: the events that the viewer
// may know of.
type Notice struct {
	// Groups are the events by kind, at least one, that of the latest event first.
	Groups []NoticeGroup
	At     int64 // of the latest event, in microseconds
	Unread bool  // one of the events is
}

// NoticeGroup is all events of one kind.
type NoticeGroup struct {
	Kind notices.Kind
	// Actors are the people, each once, the latest first. Others is how many more there are.
	Actors []int64
	Others int
	Events int
	// CommentID is the latest event's comment, 0 if it is about the post itself. Comment is
	// that comment if it is to be quoted.
	CommentID int64
	Comment   *Comment
}

// noticeOf returns what the viewer of the sets may know of these events, nil if that is
// nothing. If several events are about one comment, only the strongest counts.
func noticeOf(events []notices.Event, sets *access.Sets, hidden access.HiddenUsers) *Notice {
	said := map[int64]notices.Kind{} // by comment
	for _, e := range events {
		if e.Comment != 0 && rankOf(e.Kind) > rankOf(said[e.Comment]) {
			said[e.Comment] = e.Kind
		}
	}
	n := &Notice{}
	at := map[notices.Kind]int{}
	for _, e := range events {
		if !knows(e, sets, hidden) {
			continue
		}
		n.Unread = n.Unread || e.Unread && !notices.Off(sets.NoticesOff).Has(e.Kind)
		if rank := rankOf(e.Kind); rank > 0 && rank < rankOf(said[e.Comment]) {
			continue
		}
		i, ok := at[e.Kind]
		if !ok {
			i = len(n.Groups)
			at[e.Kind] = i
			n.Groups = append(n.Groups, NoticeGroup{Kind: e.Kind, CommentID: e.Comment})
		}
		g := &n.Groups[i]
		g.Events++
		if !slices.Contains(g.Actors, e.Actor) {
			g.Actors = append(g.Actors, e.Actor)
		}
		n.At = max(n.At, e.At)
	}
	if len(n.Groups) == 0 {
		return nil
	}
	return n
}

// rankOf orders the kinds that one comment may be of by how much they say; 0 is none of them.
func rankOf(k notices.Kind) int {
	return 1 + slices.Index([]notices.Kind{notices.After, notices.Comment, notices.Message, notices.Mention}, k)
}

// knows reports whether the viewer of the sets may know of an event, and wants to.
func knows(e notices.Event, sets *access.Sets, hidden access.HiddenUsers) bool {
	return !hidden.Has(e.Actor) && !hides(sets, e.Actor)
}

// notice fills in why the item is among the viewer's notifications, and reports whether the
// viewer may know of anything.
func (d decider) notice(it *Item, hidden access.HiddenUsers) bool {
	if d.sets.Muted.Has(it.PostID) {
		return false
	}
	it.Notice = noticeOf(d.notices[notices.Of{Account: d.sets.AccountID, Post: it.PostID}], d.sets, hidden)
	if it.Notice == nil {
		return false
	}
	for i := range it.Notice.Groups {
		// Beyond what is remembered only the number is known.
		if g := &it.Notice.Groups[i]; g.Kind == notices.Like {
			g.Others = max(0, it.Likes().Total-len(g.Actors))
			if likesOf := it.Likes(); slices.Contains(likesOf.IDs, it.Fold.Text.Author) {
				g.Others = max(0, g.Others-1) // one's own
			}
			if g.Events < notices.MaxEvents {
				g.Others = 0
			}
		}
	}
	return true
}

// quote takes the comment that the item's first group is about from its folds. It is not there
// if it is being deleted, or is about to be read.
func (it *Item) quote(full *Fold) {
	g := &it.Notice.Groups[0]
	if g.CommentID == 0 {
		return
	}
	for _, f := range []*Fold{it.Fold, full} {
		if f == nil || g.Comment != nil {
			continue
		}
		for i := range f.Comments.Shown {
			if c := &f.Comments.Shown[i]; c.ID == g.CommentID && !it.Hides(c.Author) {
				g.Comment = c
			}
		}
	}
}

// quotesFolded reports whether the comment that the item quotes is folded away.
func (it *Item) quotesFolded() bool {
	id := it.Notice.Groups[0].CommentID
	return id != 0 && it.Fold.folds() &&
		!slices.ContainsFunc(it.Fold.Comments.Shown, func(c Comment) bool { return c.ID == id })
}

// eventsOf reads what happened to the posts in rivers of notifications: no statement while the
// node remembers it. It reports whether there was one.
func (s *Store) eventsOf(ctx context.Context, all []undecided) (events map[notices.Of][]notices.Event, read bool, err error) {
	var asks []notices.Ask
	for _, u := range all {
		if !specs[u.name.Kind].notices {
			continue
		}
		a := notices.Ask{Account: u.sets.AccountID, Label: u.label}
		for _, e := range u.entries {
			a.Posts = append(a.Posts, e.PostID)
		}
		asks = append(asks, a)
	}
	if len(asks) == 0 {
		return nil, false, nil
	}
	return s.notices.Events(ctx, asks)
}

// UnreadAsk asks how many notifications a viewer has not read: with these sets, and the label
// that came with them.
type UnreadAsk struct {
	Sets  *access.Sets
	Label notices.Label
}

// MaxCounted is the highest number of unread notifications: more are not counted.
const MaxCounted = 100

// Unread returns how many entries of each viewer's notifications have an unread event that the
// viewer may know of, and wants, decided as an entry is (those with nothing but mentions by one
// person whom the viewer does not follow are one), how many requests wait for the
// viewer's answer, and how many sources that the viewer manages ask or have come to a stop since the
// viewer looked, together. It costs no statement while the node remembers, else one for all
// together, one or two for levels, one for requests and one for sources.
func (s *Store) Unread(ctx context.Context, asks []UnreadAsk) ([]int, error) {
	found, err := s.unread(ctx, asks)
	if err != nil {
		return nil, err
	}
	var asked []int64
	for _, a := range asks {
		asked = append(append(asked, a.Sets.AccountID), a.Sets.Administers...)
	}
	requests, err := s.access.Requests(ctx, asked)
	if err != nil {
		return nil, err
	}
	alerts, err := s.access.Alerts(ctx, asked)
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(asks))
	for i, a := range asks {
		n := len(found[i])
		for _, account := range append([]int64{a.Sets.AccountID}, a.Sets.Administers...) {
			n += requests[account]
			for _, alert := range alerts[account] {
				if a.Sets.Tells(alert) {
					n++
				}
			}
		}
		counts[i] = min(n, MaxCounted)
	}
	return counts, nil
}

// News returns how many entries of an account's notifications are unread, without requests, and
// when the latest of their events came, in microseconds.
func (s *Store) News(ctx context.Context, account int64) (n int, latest int64, err error) {
	ask, err := s.Notices(ctx, account)
	if err != nil {
		return 0, 0, err
	}
	found, err := s.unread(ctx, []UnreadAsk{ask})
	if err != nil || len(found[0]) == 0 {
		return 0, 0, err
	}
	return min(len(found[0]), MaxCounted), slices.Max(found[0]), nil
}

// unread returns for each ask the times of the latest unread events of its entries.
func (s *Store) unread(ctx context.Context, asks []UnreadAsk) ([][]int64, error) {
	asked := make([]notices.Ask, 0, len(asks))
	for _, a := range asks {
		if a.Sets.AccountID == 0 {
			continue
		}
		one := notices.Ask{Account: a.Sets.AccountID, Label: a.Label}
		if len(a.Sets.Terms) > 0 {
			one.BodyRunes = bodyKeep
		}
		asked = append(asked, one)
	}
	found, err := s.notices.Unread(ctx, asked)
	if err != nil {
		return nil, err
	}
	var named []int64
	for _, posts := range found {
		for _, p := range posts {
			named = append(named, p.Decisive...)
		}
	}
	gates, err := s.access.Levels(ctx, named)
	if err != nil {
		return nil, err
	}
	latest := make([][]int64, len(asks))
	for i, a := range asks {
		d := decider{name: Name{UserID: a.Sets.AccountID, Kind: Notifications}, sets: a.Sets, gates: gates}
		mentioned := map[int64]int{} // by somebody not followed: where in latest
		for _, p := range found[a.Sets.AccountID] {
			at, by, counts := d.counts(p)
			if !counts {
				continue
			}
			if before, again := mentioned[by]; again {
				latest[i][before] = max(latest[i][before], at)
				continue
			}
			if by != 0 {
				mentioned[by] = len(latest[i])
			}
			latest[i] = append(latest[i], at)
		}
	}
	return latest, nil
}

// counts reports whether a post with unread events counts, by the same questions as decide, and
// when the latest of those came that the viewer may know of. If somebody whom the viewer does not
// follow names the viewer there, and nothing else happened, by is that person: what they write in
// many posts counts once.
func (d decider) counts(p notices.Post) (at, by int64, counts bool) {
	f := &Fold{PostID: p.ID, Decisive: p.Decisive, Text: Text{Author: p.Author, Body: shownBody(p)}}
	if d.sets.Muted.Has(p.ID) || !d.gates.OpensAny(d.sets, p.Decisive) {
		return 0, 0, false
	}
	hidden := d.gates.Hidden(d.sets, p.Decisive)
	if hidden.Has(p.Author) {
		return 0, 0, false
	}
	n := noticeOf(p.Events, d.sets, hidden)
	if n == nil || !n.Unread {
		return 0, 0, false
	}
	if g := n.Groups[0]; len(n.Groups) == 1 && g.Kind == notices.Mention && len(g.Actors) == 1 && !d.sets.Follows.Has(g.Actors[0]) {
		by = g.Actors[0]
	}
	it := Item{PostID: p.ID, Fold: f, To: destinations(d.sets, d.gates, f)}
	return n.At, by, hideOf(d.name, d.sets, &it).Cause == Unhidden
}

// shownBody is the text that the post's fold has, but for the end of a spoiler that was cut.
func shownBody(p notices.Post) string {
	body := snapshot.FirstLines(p.Body, bodyKeepLines)
	if p.BodyCut || len(body) < len(p.Body) {
		return cutText(body, bodyCut, bodyCutLines, false)
	}
	return body
}

// Notices brings the node's cache of access to the present, and returns what a page without a
// river asks Unread with. It is one statement.
func (s *Store) Notices(ctx context.Context, account int64) (UnreadAsk, error) {
	for range 3 {
		const query = `
			SELECT c.epoch, c.n, coalesce((SELECT n FROM notice_clocks WHERE account_id = @account), 0)
			FROM clock c`
		var clock timelines.Clock
		var n int64
		found := false
		err := s.forEach(ctx, "read notice clock", query, pgx.StrictNamedArgs{"account": account},
			[]any{&clock.Epoch, &clock.N, &n}, func() { found = true })
		if err != nil {
			return UnreadAsk{}, err
		}
		if !found {
			if _, err := s.settle(ctx); err != nil {
				return UnreadAsk{}, err
			}
			continue
		}
		if err := s.advance(ctx, clock); err != nil {
			return UnreadAsk{}, err
		}
		sets, err := s.access.Sets(ctx, account)
		return UnreadAsk{sets, notices.Label{Epoch: clock.Epoch, N: n}}, err
	}
	return UnreadAsk{}, fmt.Errorf("clock row keeps vanishing: %w", ErrUnavailable)
}

// Told returns the people whose notifications these changes concern: the owners of those of the
// touched timelines. It costs no statement while the node remembers the timelines.
func (s *Store) Told(ctx context.Context, touched []timelines.Touched) ([]int64, error) {
	found, err := s.touchedTimelines(ctx, touched)
	if err != nil {
		return nil, err
	}
	return toldOf(found), nil
}

func toldOf(touched map[int64]timelines.Timeline) (accounts []int64) {
	for _, t := range touched {
		if t.Kind == kinds.Notifications {
			accounts = append(accounts, t.TheirID)
		}
	}
	return accounts
}

const raiseNoticeClocks = `
	INSERT INTO notice_clocks (account_id, n)
	SELECT id, 1 FROM (SELECT DISTINCT unnest(@accounts::bigint[]) AS id) a ORDER BY id
	ON CONFLICT (account_id) DO UPDATE SET n = notice_clocks.n + 1`

func (s *Store) raiseNotices(ctx context.Context, accounts []int64) error {
	if len(accounts) == 0 {
		return nil
	}
	if _, err := s.db.Exec(ctx, raiseNoticeClocks, pgx.StrictNamedArgs{"accounts": accounts}); err != nil {
		return fmt.Errorf("raise notice clocks: %w", err)
	}
	return nil
}

// MarkRead notes that the viewer has read what happened to these posts. It is written soon,
// together with what others read.
func (s *Store) MarkRead(account int64, posts []int64) { s.notices.MarkRead(account, posts) }

// MarkAllRead marks all notifications of an account as read.
func (s *Store) MarkAllRead(ctx context.Context, account int64) error {
	if err := s.primary.Notices.MarkAllRead(ctx, account); err != nil {
		return err
	}
	return s.raiseNotices(ctx, []int64{account})
}

// writeReads writes what people have read since the last time. If the write fails, it is kept
// for the next time.
func (s *Store) writeReads(ctx context.Context) error {
	pending := s.notices.Pending()
	if len(pending) == 0 {
		return nil
	}
	reads := make([]timelines.Read, 0, len(pending))
	accounts := map[int64]struct{}{}
	for of, upto := range pending {
		reads = append(reads, timelines.Read{AccountID: of.Account, PostID: of.Post, Upto: upto})
		accounts[of.Account] = struct{}{}
	}
	if err := s.primary.Notices.MarkRead(ctx, reads); err != nil {
		return err
	}
	if err := s.raiseNotices(ctx, slices.Collect(maps.Keys(accounts))); err != nil {
		return err
	}
	s.notices.Written(pending)
	return nil
}
