package strategies

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
	"riverrun/timelines/rights"
	"riverrun/timelines/snapshot"
)

// inHome is true for a timeline t that is a part of the home feed of the viewer v.id, and
// that the viewer may open: Snapshot.Home of one timeline.
var inHome = `(t.their_id = v.id AND (t.kind = ANY(@own) OR t.kind = ANY(@followers))
	OR t.kind = ANY(@followers) AND EXISTS (
		SELECT FROM subscriptions s WHERE s.subscriber_id = v.id AND s.account_id = t.their_id AND s.in_home))
	AND ` + openGate

// openGate is true for a timeline t whose gate the viewer v.id may pass.
var openGate = `(t.gate_id IS NULL OR EXISTS (SELECT FROM timelines g WHERE g.id = t.gate_id AND ` + rights.OpenTo("g", "v.id") + `))`

// homeArgs are the arguments of inHome.
func homeArgs(args pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	args["own"], args["followers"] = kinds.OfHome(kinds.OfOwner, false), kinds.OfHome(kinds.OfFollowers, false)
	return args
}

// shownQuery decides what a page shows of some posts, all at once, by the rules that rivers
// decide by in memory: the post is there, the viewer may read it and sees its author, and a
// timeline of the viewer's home holds it, by somebody's doing whom the viewer sees. The last
// rule matters for what was liked by a person whom the viewer follows and has banned, or whose
// feed was closed to the viewer a moment ago.
var shownQuery = `
	SELECT @session::bytea IS NULL OR EXISTS (
			SELECT FROM sessions WHERE token_hash = @session AND account_id = @viewer AND expires_at > now()),
		ARRAY(
			SELECT p.id FROM posts p CROSS JOIN (SELECT @viewer::bigint AS id) v
			WHERE p.id = ANY(@posts) AND p.deleted_at IS NULL AND ` + rights.SeenPost + ` AND EXISTS (
				SELECT FROM timeline_entries e
				CROSS JOIN LATERAL (SELECT * FROM timelines t WHERE t.id = e.timeline_id OFFSET 0) t
				WHERE e.post_id = p.id AND NOT e.withdrawn AND ` + inHome + `
					AND (t.kind <> ALL(@activity) OR ` + rights.UnbannedAs("t.their_id") + `)))`

// activity are the kinds of timelines that hold a post because their owner did something
// there.
var activity = []string{kinds.Likes, kinds.Comments}

// shown returns those of the entries that the viewer may see now, in their order. It takes
// one statement. Errors: timelines.ErrSignedOut.
func shown(ctx context.Context, sn *snapshot.Snapshot, v timelines.Viewer, entries []Entry) ([]Entry, error) {
	posts := make([]int64, len(entries))
	for i, e := range entries {
		posts[i] = e.PostID
	}
	args := homeArgs(pgx.StrictNamedArgs{"viewer": v.AccountID, "posts": posts, "activity": activity, "session": []byte(nil)})
	if v.Session != (timelines.Session{}) {
		args["session"] = v.Session[:]
	}
	var signedIn bool
	var seen []int64
	if err := sn.Tx().QueryRow(ctx, shownQuery, args).Scan(&signedIn, &seen); err != nil {
		return nil, fmt.Errorf("decide entries: %w", err)
	}
	if !signedIn {
		return nil, timelines.ErrSignedOut
	}
	slices.Sort(seen)
	var left []Entry
	for _, e := range entries {
		if _, ok := slices.BinarySearch(seen, e.PostID); ok {
			left = append(left, e)
		}
	}
	return left, nil
}

// patience is how many times a page decides about more posts, each time about twice as many as
// before, until it is full. It ends short after 31 times as many posts as it may have. Posts at
// one place count once, however many they are.
const patience = 5

// pageOf returns a page of what was read for it, which is more than limit if more follow.
func pageOf(entries []Entry, limit int) Page {
	if len(entries) <= limit {
		return Page{Entries: entries}
	}
	entries = entries[:limit]
	return Page{Entries: entries, More: true, Next: entries[limit-1].cursor()}
}

func admit(v timelines.Viewer) error {
	if v.Anonymous() {
		return rivers.ErrSignInNeeded
	}
	return nil
}
