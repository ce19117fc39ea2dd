package access

import "slices"

// IDs is an immutable set of ids, sorted.
type IDs []int64

// NewIDs returns the set of these ids.
func NewIDs(ids ...int64) IDs { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// Has reports whether the id is in the set.
func (s IDs) Has(id int64) bool {
	_, in := slices.BinarySearch(s, id)
	return in
}
