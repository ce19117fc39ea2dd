package strategies

import (
	"math"
	"time"
)

// Timed is fan-out on write in timed buckets. 001: "The model maintains a collection of
// 'bucket' documents ... filled with posts for a user's timeline for a given (configurable)
// time period ... If no updates for a given user's timeline exist for any given day, the
// document for that day simply won't exist." It names the cost: "Documents will vary in size
// depending on activity for the user's timeline."
//
// Ours differs in these points:
//
//   - A bucket is named by the place where its period begins, in microseconds. 001 numbers
//     the periods by a division, and its original gets the number by a modulo, so that posts of
//     different days share a bucket. Here a bucket of another period cannot be taken for one
//     of this: a feed of another period is filled anew.
//   - A page goes on by anchor. It begins in the bucket that its anchor stands in and reads
//     the next ones down that exist, by the primary key, however long the empty time between
//     them is. A long silence costs nothing.
//   - Posts move: a bump takes a post out of its old bucket into that of its new place.
//     001 orders by creation, so there posts stay where they are.
//   - A feed follows what its viewer follows. 001 leaves the posts of those left, and never
//     adds those of the newly followed.
//   - Nobody has a feed who never had a page, unless Fill made it. 001 pushes to everybody,
//     and names that as a drawback.
type Timed struct{ *stored }

// TimedPeriod is the period of a bucket if nothing else is said, that of 001.
const TimedPeriod = 24 * time.Hour

// NewTimed returns the strategy with buckets of that period; 0 means TimedPeriod. Changing the
// period fills each feed anew when it is next read.
func NewTimed(s Stores, period time.Duration) Timed {
	if period <= 0 {
		period = TimedPeriod
	}
	p := max(period.Microseconds(), 1)
	return Timed{newStored(s, "timed", p, &periods{p}, NewRead(s.Primary, 0))}
}

// periods divides a feed by time, into periods of that many microseconds.
type periods struct{ length int64 }

func (p *periods) most() int { return 0 }

func (p *periods) lowOf(e Entry, _ *Entry) Entry {
	return Entry{Place: p.low(e.Place), PostID: math.MinInt64}
}

// low is the beginning of the period that a place falls in, also before 1970.
func (p *periods) low(place int64) int64 {
	rest := place % p.length
	if rest < 0 {
		rest += p.length
	}
	return place - rest
}
