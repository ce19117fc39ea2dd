package strategies

import (
	"cmp"
	"context"
	"math"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// Read is fan-out on read. 001: "This approach does not materialise the feed of a user at
// all until it has been requested ... When a request arrives for a particular user's feed, the
// service simply creates a query for the most recent content of all accounts followed by that
// user." It names the cost: random reads, the same work for each of two reads in succession,
// and that a large following list "would require splitting in to separate queries and manual
// collation".
//
// Ours does the same over timelines of the primary store, with the scan that rivers are built
// by. So bumps, likes of friends and the rights to read come with it. 001 orders by creation,
// and by that a query of each account's posts is enough. Here a post's place in a feed depends
// on all timelines of the feed that hold it. A part of a large list is therefore scanned by
// itself, but places its posts among the whole list (snapshot.Scan.Among). All parts are read
// in one snapshot, and a page is as if it had been one query.
//
// The rejected way is to let each part place its posts by its own timelines. A post that two
// parts hold would stand at two places, and one that the other part does not hold any more
// would fall between two pages.
type Read struct {
	primary *timelines.Store
	part    int
}

// ReadPart is how many timelines Read scans in one query if nothing else is said.
const ReadPart = 2000

// NewRead returns the strategy over the primary store. part is how many timelines one query
// scans at most; 0 means ReadPart.
func NewRead(primary *timelines.Store, part int) *Read {
	return &Read{primary: primary, part: cmp.Or(part, ReadPart)}
}

// Page implements Strategy.
func (r *Read) Page(ctx context.Context, v timelines.Viewer, below rivers.Cursor, limit int) (page Page, err error) {
	if err := admit(v); err != nil {
		return Page{}, err
	}
	err = r.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) error {
		home, err := sn.Home(ctx, v.AccountID, false)
		if err != nil {
			return err
		}
		var entries []Entry
		at, finished := below, false
		for times := 0; len(entries) <= limit && !finished; times++ {
			if times == patience {
				page = Page{Entries: entries, More: true, Next: rivers.NextBelow(at.Place, below)}
				return nil
			}
			scanned, err := r.scan(ctx, sn, v.AccountID, home, at, (limit+1)<<times)
			if err != nil {
				return err
			}
			found, err := shown(ctx, sn, v, placed(scanned.Posts))
			if err != nil {
				return err
			}
			entries = append(entries, found...)
			finished = scanned.Finished
			at = rivers.Cursor{Place: scanned.Floor, PostID: math.MinInt64}
		}
		page = pageOf(entries, limit)
		return nil
	})
	return page, err
}

// Apply implements Strategy. Nothing is stored.
func (r *Read) Apply(context.Context, ...timelines.Event) error { return nil }

// ApplyOwn implements Strategy. Nothing is stored.
func (r *Read) ApplyOwn(context.Context, int64, ...timelines.Event) error { return nil }

// scan is one scan of all these timelines, made of scans of parts of them.
func (r *Read) scan(ctx context.Context, sn *snapshot.Snapshot, viewer int64, home []int64, below rivers.Cursor, limit int) (snapshot.Scanned, error) {
	q := scanBelow(viewer, home, below, limit)
	if len(home) <= r.part {
		return scanOn(ctx, sn, q)
	}
	q.Among = home
	all := snapshot.Scanned{Floor: math.MinInt64, Finished: true}
	for part := range slices.Chunk(home, r.part) {
		q.Timelines = part
		one, err := scanOn(ctx, sn, q)
		if err != nil {
			return all, err
		}
		all.Posts = append(all.Posts, one.Posts...)
		all.Floor, all.Finished = max(all.Floor, one.Floor), all.Finished && one.Finished
	}
	// Below the highest floor some part is not complete.
	all.Posts = slices.DeleteFunc(all.Posts, func(p snapshot.Placed) bool { return p.Place < all.Floor })
	slices.SortFunc(all.Posts, func(a, b snapshot.Placed) int {
		return cmp.Or(cmp.Compare(b.Place, a.Place), cmp.Compare(b.PostID, a.PostID))
	})
	all.Posts = slices.Compact(all.Posts)
	return all, nil
}

// scanOn is a scan that comes further down. A scan that meets very many rows at the place where
// it begins ends where it began; then it has no bound. Each 10,000 rows at one place take about
// 0.1 s.
func scanOn(ctx context.Context, sn *snapshot.Snapshot, q snapshot.Scan) (snapshot.Scanned, error) {
	scanned, err := sn.Scan(ctx, q)
	if err != nil || scanned.Finished || scanned.Floor < q.BeforePlace || scanned.Floor == q.BeforePlace && q.BeforePost > math.MinInt64 {
		return scanned, err
	}
	q.MaxRows = math.MaxInt64
	return sn.Scan(ctx, q)
}

// scanBelow asks for posts of a home feed below a place.
func scanBelow(viewer int64, home []int64, below rivers.Cursor, limit int) snapshot.Scan {
	if below.Top() {
		below = rivers.Cursor{Place: math.MaxInt64, PostID: math.MaxInt64}
	}
	return snapshot.Scan{
		Viewer: viewer, Timelines: home, BeforePlace: below.Place, BeforePost: below.PostID, Limit: limit, Down: math.MaxInt64,
	}
}

func placed(posts []snapshot.Placed) []Entry {
	entries := make([]Entry, len(posts))
	for i, p := range posts {
		entries[i] = Entry(p)
	}
	return entries
}
