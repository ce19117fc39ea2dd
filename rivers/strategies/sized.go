package strategies

// Sized is fan-out on write in sized buckets. 001: "the same document (per user) is used in
// this model to hold timeline messages until it has reached a pre-determined size at which
// point a new one will be created." It names the cost: "the insertion logic is more
// complicated. The implementation must use a findAndModify command rather than an upsert to
// detect when a new document needs to be created."
//
// In 001 a bucket is what came next, whatever it is. Here a feed is ordered by place, and
// posts come in anywhere: a follow, a like of an old post, an import. So a bucket is a range of
// places, from its low end to that of the next. A post goes into the bucket in whose range it
// stands. A bucket that grows past its size is split. If it grew on top, as nearly always, the
// lower part stays full and a new bucket begins with the newest post, as in 001. A bucket that
// loses its last post is removed; others are not merged.
//
// No bucket is ever over its size. Two writers of a feed take turns, because each locks the
// feed's row before it reads the buckets, and a constraint of the table refuses the rest.
//
// Changing the size costs a fill of each feed, by its next reader. The rejected way is to split
// old buckets when they are next written. Then a page would read buckets of two sizes, and the
// constraint could not say what the size is.
type Sized struct{ *stored }

// BucketSize is the size of a bucket if nothing else is said: four pages.
const BucketSize = 100

// NewSized returns the strategy with buckets of at most that many posts; 0 means BucketSize.
func NewSized(s Stores, size int) Sized {
	if size <= 0 {
		size = BucketSize
	}
	return Sized{newStored(s, "sized", int64(size), &sizes{size}, NewRead(s.Primary, 0))}
}

// sizes divides a feed into buckets of at most size posts. If that is 0, it has one bucket.
type sizes struct{ size int }

func (s *sizes) most() int { return s.size }

func (s *sizes) lowOf(_ Entry, covering *Entry) Entry {
	if covering != nil {
		return *covering
	}
	return bottom
}
