package strategies

import (
	"cmp"
	"slices"
)

// shape says how a strategy divides its feeds into buckets.
type shape interface {
	// lowOf returns the low end of the bucket that a new entry belongs in. covering is that of
	// the stored bucket in whose range it stands, nil if it stands below all.
	lowOf(e Entry, covering *Entry) Entry
	// most is how many entries a bucket holds at most, 0 for any number.
	most() int
}

// bucket holds the entries of a feed from low on up to the low end of the next one.
type bucket struct {
	feed    int64
	low     Entry
	entries []Entry // newest first
	// texts are those of its posts, by id; nil if posts are linked.
	texts map[int64]string

	topped  bool    // a new entry came on top of others
	dropped []Entry // beyond as many as the feed keeps
}

func newBucket(feed int64, low Entry, posts, places []int64, texts []string) *bucket {
	b := &bucket{feed: feed, low: low, entries: make([]Entry, len(posts))}
	for i := range posts {
		b.entries[i] = Entry{PostID: posts[i], Place: places[i]}
	}
	for i, text := range texts {
		b.embed(posts[i], text)
	}
	return b
}

func (b *bucket) embed(post int64, text string) {
	if b.texts == nil {
		b.texts = map[int64]string{}
	}
	b.texts[post] = text
}

// newest compares entries in the order of a feed.
func newest(a, b Entry) int {
	return cmp.Or(cmp.Compare(b.Place, a.Place), cmp.Compare(b.PostID, a.PostID))
}

func (b *bucket) add(e Entry) {
	i, found := slices.BinarySearchFunc(b.entries, e, newest)
	if found {
		return
	}
	b.topped = b.topped || i == 0 && len(b.entries) > 0
	b.entries = slices.Insert(b.entries, i, e)
}

func (b *bucket) remove(e Entry) {
	if i, found := slices.BinarySearchFunc(b.entries, e, newest); found {
		b.entries = slices.Delete(b.entries, i, i+1)
	}
}

// split divides a bucket that grew past most. The lowest part keeps its low end. If it grew on
// top, as feeds usually do, the lower parts are full and stay so; else all parts are about
// equal.
func (b *bucket) split(most int) []*bucket {
	n := len(b.entries)
	if most == 0 || n <= most {
		return []*bucket{b}
	}
	parts := (n + most - 1) / most
	var split []*bucket
	for start, i := 0, 0; i < parts; i++ {
		end := n * (i + 1) / parts
		if b.topped {
			end = n - most*(parts-1-i)
		}
		part := &bucket{feed: b.feed, entries: b.entries[start:end], texts: b.texts}
		if part.low = part.entries[len(part.entries)-1]; i == parts-1 {
			part.low = b.low
		}
		split = append(split, part)
		start = end
	}
	return split
}

// arrange moves entries between buckets, which are all in whose ranges the moves begin and
// end, by feed, the lowest first. It returns those that changed, none of them past its size.
func (s *stored) arrange(buckets map[int64][]*bucket, moves []move) (changed []*bucket) {
	touched := map[*bucket]bool{}
	for _, m := range moves {
		if m.stays() && s.Texts == nil {
			continue
		}
		if m.stood {
			if b := covering(buckets[m.feed], m.from); b != nil {
				b.remove(m.from)
				touched[b] = true
			}
		}
		if m.removed {
			continue
		}
		b := s.bucketFor(buckets, m)
		b.add(m.Entry)
		if s.Texts != nil {
			b.embed(m.PostID, m.text)
		}
		touched[b] = true
	}
	for _, list := range buckets {
		for _, b := range list {
			if touched[b] {
				changed = append(changed, b.split(s.most())...)
			}
		}
	}
	return changed
}

// bucketFor returns the bucket that the entry belongs in, and makes it if there is none.
func (s *stored) bucketFor(buckets map[int64][]*bucket, m move) *bucket {
	list := buckets[m.feed]
	var over *Entry
	if b := covering(list, m.Entry); b != nil {
		over = &b.low
	}
	low := s.lowOf(m.Entry, over)
	i, found := slices.BinarySearchFunc(list, low, func(b *bucket, low Entry) int { return newest(low, b.low) })
	if !found {
		buckets[m.feed] = slices.Insert(list, i, &bucket{feed: m.feed, low: low})
	}
	return buckets[m.feed][i]
}

// covering returns the bucket in whose range a place is, nil if it is below all.
func covering(list []*bucket, e Entry) *bucket {
	for _, b := range slices.Backward(list) {
		if !above(b.low, e) {
			return b
		}
	}
	return nil
}

// trim drops what live feeds hold beyond as many posts as they keep. Such feeds have one
// bucket each.
func (s *stored) trim(buckets []*bucket, live map[int64]bool) []*bucket {
	for _, b := range buckets {
		if s.keep > 0 && live[b.feed] && len(b.entries) > s.keep {
			b.entries, b.dropped = b.entries[:s.keep], b.entries[s.keep:]
		}
	}
	return buckets
}
