package sources

import "time"

// Limits bound how much a site loads for its people and groups.
type Limits struct {
	// Sources is the largest number of sources of one owner.
	Sources int
	// FileBytes is the size of the largest file.
	FileBytes int64
	// Items is the largest number of items of one source.
	Items int
	// Soonest is the shortest time after which a link is fetched again without being asked for.
	Soonest time.Duration
}

// DefaultLimits returns the limits of a site that sets none.
func DefaultLimits() Limits {
	return Limits{Sources: 50, FileBytes: 1_000_000_000, Items: 1_000_000, Soonest: 5 * time.Minute}
}

// Within returns the same sources within other limits. A field that is 0 has the value of
// DefaultLimits.
func (s *Store) Within(l Limits) *Store {
	usual := DefaultLimits()
	if l.Sources <= 0 {
		l.Sources = usual.Sources
	}
	if l.FileBytes <= 0 {
		l.FileBytes = usual.FileBytes
	}
	if l.Items <= 0 {
		l.Items = usual.Items
	}
	if l.Soonest <= 0 {
		l.Soonest = usual.Soonest
	}
	return &Store{pool: s.pool, posts: s.posts, limits: l}
}

// Limits returns the limits of the sources.
func (s *Store) Limits() Limits { return s.limits }
