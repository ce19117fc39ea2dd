package strategies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// feedsOf are the feeds of some viewers that a writer has to write: one that is live, one that
// is being built, or both.
type feedsOf struct {
	of       map[int64][]int64
	knows    map[int64]string // by feed: the snapshot of the primary store that it has followed
	deadline time.Time
}

// lookUp returns the feeds of these viewers. Those of another setting, which another server
// made, are not written but retired: buckets are made by one setting, and nobody must read a
// feed that missed a change. So while servers differ, each change costs its readers a fill.
func (s *stored) lookUp(ctx context.Context, viewers []int64) (f feedsOf, err error) {
	const query = `
		SELECT f.id, f.viewer_id, f.setting = @setting, f.knows::text
		FROM unnest(@viewers::bigint[]) v(id)
		CROSS JOIN LATERAL (
			SELECT id, viewer_id, epoch, setting, knows FROM home_feeds
			WHERE viewer_id = v.id AND strategy = @strategy AND state <> 'retired' OFFSET 0) f
		JOIN clock c ON c.epoch = f.epoch`
	if f.deadline, err = s.deadline(ctx); err != nil {
		return f, err
	}
	rows, err := s.Secondary.Query(ctx, query, pgx.StrictNamedArgs{
		"viewers": viewers, "strategy": s.strategy, "setting": s.setting,
	})
	if err != nil {
		return f, fmt.Errorf("look up feeds: %w", err)
	}
	f.of, f.knows = map[int64][]int64{}, map[int64]string{}
	var id, viewer int64
	var ours bool
	var knows string
	var others []int64
	_, err = pgx.ForEachRow(rows, []any{&id, &viewer, &ours, &knows}, func() error {
		if ours {
			f.of[viewer], f.knows[id] = append(f.of[viewer], id), knows
		} else {
			others = append(others, id)
		}
		return nil
	})
	if err != nil {
		return f, fmt.Errorf("look up feeds: %w", err)
	}
	if len(others) == 0 {
		return f, nil
	}
	return f, s.retireThose(ctx, `SELECT unnest(@feeds::bigint[])`, pgx.StrictNamedArgs{"feeds": others})
}

// feedOwner is an account one of whose home timelines holds a touched post.
type feedOwner struct {
	post, account int64
	followed      bool // by a timeline that is in the homes of followers too
}

// owners returns the accounts whose timelines were touched, whether or not their followers may
// open those.
func (s *stored) owners(ctx context.Context, touched []timelines.Touched) ([]feedOwner, error) {
	const query = `
		SELECT n.post_id, t.their_id, bool_or(t.kind = ANY(@followers))
		FROM unnest(@posts::bigint[], @timelines::bigint[]) n(post_id, id)
		CROSS JOIN LATERAL (SELECT kind, their_id FROM timelines WHERE id = n.id OFFSET 0) t
		WHERE t.kind = ANY(@own) OR t.kind = ANY(@followers)
		GROUP BY n.post_id, t.their_id`
	var posts, ids []int64
	for _, t := range touched {
		for _, id := range t.Timelines {
			posts, ids = append(posts, t.PostID), append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.Primary.Pool().Query(ctx, query, homeArgs(pgx.StrictNamedArgs{"posts": posts, "timelines": ids}))
	if err != nil {
		return nil, fmt.Errorf("read owners of timelines: %w", err)
	}
	var owners []feedOwner
	var o feedOwner
	_, err = pgx.ForEachRow(rows, []any{&o.post, &o.account, &o.followed}, func() error { owners = append(owners, o); return nil })
	if err != nil {
		return nil, fmt.Errorf("read owners of timelines: %w", err)
	}
	return owners, nil
}

// followersAtOnce is how many accounts one statement reads the followers of. It may sort a
// block of each.
const followersAtOnce = 16

// blocksAtOnce is how many blocks of followers one step takes. A step takes some seconds.
const blocksAtOnce = 20

// followers calls fn with the followers of these accounts below a place, in blocks of pairs in the
// order of accounts and followers. So a million followers take no more memory than a thousand. It
// ends after blocksAtOnce blocks; more says that followers are left, below next.
func (s *stored) followers(ctx context.Context, accounts []int64, from Progress, block int, fn func(account int64, followers []int64) error) (next Progress, more bool, err error) {
	const query = `
		SELECT f.account_id, f.subscriber_id
		FROM unnest(@accounts::bigint[]) a(id)
		CROSS JOIN LATERAL (
			SELECT account_id, subscriber_id FROM subscriptions
			WHERE account_id = a.id AND in_home AND (account_id, subscriber_id) > (@account::bigint, @follower::bigint)
			ORDER BY account_id, subscriber_id LIMIT @block) f
		ORDER BY f.account_id, f.subscriber_id LIMIT @block`
	accounts = slices.Compact(slices.Sorted(slices.Values(accounts)))
	accounts = slices.DeleteFunc(accounts, func(account int64) bool { return account < from.Account })
	at, follower := from.Account, from.Follower
	for blocks := 0; len(accounts) > 0; {
		some := accounts[:min(len(accounts), followersAtOnce)]
		for {
			if blocks++; blocks > blocksAtOnce {
				return Progress{at, follower}, true, nil
			}
			rows, err := s.Primary.Pool().Query(ctx, query, pgx.StrictNamedArgs{
				"accounts": some, "account": at, "follower": follower, "block": block,
			})
			if err != nil {
				return next, false, fmt.Errorf("read followers: %w", err)
			}
			n, of := 0, map[int64][]int64{}
			_, err = pgx.ForEachRow(rows, []any{&at, &follower}, func() error {
				n, of[at] = n+1, append(of[at], follower)
				return nil
			})
			if err != nil {
				return next, false, fmt.Errorf("read followers: %w", err)
			}
			for _, account := range slices.Sorted(maps.Keys(of)) {
				if err := fn(account, of[account]); err != nil {
					return next, false, err
				}
			}
			if n < block {
				break
			}
			some = slices.DeleteFunc(slices.Clone(some), func(account int64) bool { return account < at })
		}
		at, follower = some[len(some)-1], math.MaxInt64 // even if nobody follows them
		accounts = accounts[min(len(accounts), followersAtOnce):]
	}
	return next, false, nil
}

// inSteps takes all steps of something.
func inSteps(step func(Progress) (Progress, bool, error)) error {
	from, more, err := step(Progress{})
	for more && err == nil {
		from, more, err = step(from)
	}
	return err
}

// push brings the present state of posts into the feeds of the viewers concerned. It is not
// told what happened. A feed with none of the touched timelines has its entry already, and a
// viewer who follows somebody from now on fills a feed that knows the post. A viewer who
// follows several of the owners may be written several times, which changes nothing.
func (s *stored) push(ctx context.Context, touched []timelines.Touched) error {
	return inSteps(func(from Progress) (Progress, bool, error) { return s.pushStep(ctx, touched, from) })
}

// pushStep is one step of a push. The owners' own feeds come first. A block has as few followers as
// make no more than a batch of entries.
func (s *stored) pushStep(ctx context.Context, touched []timelines.Touched, from Progress) (next Progress, more bool, err error) {
	owners, err := s.owners(ctx, touched)
	if err != nil {
		return next, false, err
	}
	var pairs snapshot.ViewerPairs
	add := func(post, viewer int64) error {
		if pairs.Add(post, viewer); len(pairs.Posts) < s.batch {
			return nil
		}
		full := pairs
		pairs = snapshot.ViewerPairs{}
		return s.pushPairs(ctx, full)
	}
	posts := map[int64][]int64{} // by the account whose followers have them
	for _, o := range owners {
		if from == (Progress{}) {
			if err := add(o.post, o.account); err != nil {
				return next, false, err
			}
		}
		if o.followed {
			posts[o.account] = append(posts[o.account], o.post)
		}
	}
	block := max(1, s.batch/max(1, len(touched)))
	next, more, err = s.followers(ctx, slices.Collect(maps.Keys(posts)), from, block, func(account int64, followers []int64) error {
		for _, viewer := range followers {
			for _, post := range posts[account] {
				if err := add(post, viewer); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return next, false, err
	}
	return next, more, s.pushPairs(ctx, pairs)
}

// pushTries is how often a batch is written that is late each time. One whose feeds follow other
// changes each time is written more often, since that takes no such time.
const pushTries = 3

// pushPairs brings the present state of each post into the feeds of its viewer, in a batch
// that has a deadline of its own.
func (s *stored) pushPairs(ctx context.Context, all snapshot.ViewerPairs) error {
	if len(all.Posts) == 0 {
		return nil
	}
	viewers := slices.Compact(slices.Sorted(slices.Values(all.Viewers)))
	for late, moved := 0, 0; late < pushTries && moved < retries; {
		feeds, err := s.lookUp(ctx, viewers)
		if err != nil {
			return err
		}
		pause(ctx, afterLookup)
		var pairs snapshot.ViewerPairs
		for i, viewer := range all.Viewers {
			if len(feeds.of[viewer]) > 0 {
				pairs.Add(all.Posts[i], viewer)
			}
		}
		switch inTime, err := s.pushBatch(ctx, pairs, feeds); {
		case errors.Is(err, errMoved):
			moved++
		case err != nil || inTime:
			return err
		default:
			late++
		}
	}
	return fmt.Errorf("write %d entries of %s feeds: each try was late: %w", len(all.Posts), s.strategy, rivers.ErrUnavailable)
}

func (s *stored) pushBatch(ctx context.Context, pairs snapshot.ViewerPairs, feeds feedsOf) (inTime bool, err error) {
	if len(pairs.Posts) == 0 {
		return true, nil
	}
	entries, err := s.stampedOf(ctx, pairs, feeds.of)
	if err != nil {
		return false, err
	}
	for i := range entries {
		entries[i].knows = feeds.knows[entries[i].feed]
	}
	pause(ctx, afterSnapshot)
	return s.write(ctx, entries, feeds.deadline)
}

// stampedOf reads the present state of each post in the feeds of its viewer.
func (s *stored) stampedOf(ctx context.Context, pairs snapshot.ViewerPairs, of map[int64][]int64) (entries []stamped, err error) {
	if len(pairs.Posts) == 0 {
		return nil, nil
	}
	err = s.Primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) error {
		states, homes, err := readStates(ctx, sn, pairs)
		if err != nil {
			return err
		}
		for i, viewer := range pairs.Viewers {
			st := states[pairs.Posts[i]]
			if st == nil {
				continue
			}
			for _, feed := range of[viewer] {
				entries = append(entries, entryOf(feed, viewer, st, homes[viewer]))
			}
		}
		return s.embed(ctx, sn, entries)
	})
	return entries, err
}

// embed adds what the posts say, if feeds hold that.
func (s *stored) embed(ctx context.Context, sn *snapshot.Snapshot, entries []stamped) error {
	if s.Texts == nil || len(entries) == 0 {
		return nil
	}
	posts := map[int64]struct{}{}
	for _, e := range entries {
		posts[e.PostID] = struct{}{}
	}
	texts, err := s.Texts(ctx, sn, slices.Collect(maps.Keys(posts)))
	for i := range entries {
		entries[i].text = texts[entries[i].PostID]
	}
	return err
}

// homes are timelines of viewers' homes, by viewer.
type homes map[int64]map[int64]struct{}

// readStates returns the states of posts, and for each viewer those of the posts' timelines
// that are in the viewer's home.
func readStates(ctx context.Context, sn *snapshot.Snapshot, pairs snapshot.ViewerPairs) (map[int64]*snapshot.PostState, homes, error) {
	posts := slices.Compact(slices.Sorted(slices.Values(pairs.Posts)))
	states, err := sn.States(ctx, posts, pairs)
	if err != nil {
		return nil, nil, err
	}
	theirs, overflows := map[int64]struct{}{}, false
	for _, st := range states {
		overflows = overflows || st.Overflows
		for _, m := range st.Memberships {
			theirs[m.TimelineID] = struct{}{}
		}
	}
	if !overflows {
		among, err := homesAmong(ctx, sn, pairs, states)
		return states, among, err
	}
	// A post stands in thousands of timelines. The homes are read whole, and then only those of
	// its memberships that are in one of them.
	whole, err := wholeHomes(ctx, sn, slices.Compact(slices.Sorted(slices.Values(pairs.Viewers))))
	if err != nil {
		return nil, nil, err
	}
	for _, home := range whole {
		maps.Copy(theirs, home)
	}
	return states, whole, sn.MembershipsAmong(ctx, states, slices.Collect(maps.Keys(theirs)))
}

// homesAmong returns, for each pair, those of the post's timelines that are in the viewer's
// home.
func homesAmong(ctx context.Context, sn *snapshot.Snapshot, pairs snapshot.ViewerPairs, states map[int64]*snapshot.PostState) (homes, error) {
	query := `
		WITH t AS MATERIALIZED (
			SELECT n.post_id, t.* FROM unnest(@held::bigint[], @timelines::bigint[]) n(post_id, id)
			CROSS JOIN LATERAL (SELECT id, kind, their_id, gate_id FROM timelines WHERE id = n.id OFFSET 0) t
		)
		SELECT DISTINCT v.id, t.id
		FROM unnest(@posts::bigint[], @viewers::bigint[]) v(post_id, id)
		JOIN t ON t.post_id = v.post_id
		WHERE ` + inHome
	var held, ids []int64
	for post, st := range states {
		for _, m := range st.Memberships {
			held, ids = append(held, post), append(ids, m.TimelineID)
		}
	}
	return readHomes(ctx, sn, query, pgx.StrictNamedArgs{"held": held, "timelines": ids, "posts": pairs.Posts, "viewers": pairs.Viewers})
}

func wholeHomes(ctx context.Context, sn *snapshot.Snapshot, viewers []int64) (homes, error) {
	query := `
		SELECT v.id, t.id
		FROM unnest(@viewers::bigint[]) v(id)
		CROSS JOIN LATERAL (
			SELECT account_id FROM subscriptions WHERE subscriber_id = v.id AND in_home
			UNION ALL SELECT v.id) f
		CROSS JOIN unnest(@own::text[] || @followers::text[]) k(kind)
		CROSS JOIN LATERAL (
			SELECT id, kind, their_id, gate_id FROM timelines WHERE their_id = f.account_id AND kind = k.kind OFFSET 0) t
		WHERE (f.account_id = v.id OR t.kind = ANY(@followers)) AND ` + openGate
	return readHomes(ctx, sn, query, pgx.StrictNamedArgs{"viewers": viewers})
}

func readHomes(ctx context.Context, sn *snapshot.Snapshot, query string, args pgx.StrictNamedArgs) (homes, error) {
	rows, err := sn.Tx().Query(ctx, query, homeArgs(args))
	if err != nil {
		return nil, fmt.Errorf("read homes: %w", err)
	}
	found := homes{}
	var viewer, timeline int64
	_, err = pgx.ForEachRow(rows, []any{&viewer, &timeline}, func() error {
		if found[viewer] == nil {
			found[viewer] = map[int64]struct{}{}
		}
		found[viewer][timeline] = struct{}{}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read homes: %w", err)
	}
	return found, nil
}

// entryOf is the entry of a post in a feed, by the rules of a river's entry: the place is
// max(post.fresh_at, min(entered_at) over the home's timelines that hold or once held it), and
// the feed holds it while one of them does and the viewer may read it.
func entryOf(feed, viewer int64, st *snapshot.PostState, home map[int64]struct{}) stamped {
	first, holds := int64(0), false
	for _, m := range st.Memberships {
		if _, ok := home[m.TimelineID]; !ok {
			continue
		}
		if first == 0 || m.EnteredAt < first {
			first = m.EnteredAt
		}
		holds = holds || !m.Removed
	}
	_, reads := st.Readers[viewer]
	return stamped{
		feed: feed, Entry: Entry{PostID: st.ID, Place: max(st.FreshAt, first)}, version: st.Version,
		removed: st.Deleted || !holds || !reads,
	}
}
