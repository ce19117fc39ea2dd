package timelines

// Sets is what decides, in memory, what one viewer may see: loaded in one
// statement, immutable, shared by all requests of the viewer until something in
// it is narrowed or widened (DESIGN: R4).
type Sets struct {
	// AccountID is the viewer; 0 anonymous.
	AccountID int64
	// Follows are the accounts subscribed to.
	Follows map[int64]struct{}
	// Readable are the base timelines whose explicit set admits the viewer,
	// whatever their level is at the moment.
	Readable map[int64]struct{}
	// Excluded are the protected timelines the viewer is excluded from.
	Excluded map[int64]struct{}
	// Administers are the groups the viewer administers.
	Administers map[int64]struct{}
	// BlockedBy are the groups that keep the viewer from writing there.
	BlockedBy map[int64]struct{}
}

// Reads reports whether the viewer may read a base timeline of that level.
func (s *Sets) Reads(timelineID int64, level Level) bool {
	switch level {
	case Public:
		return true
	case Protected:
		if s.AccountID == 0 {
			return false
		}
		_, out := s.Excluded[timelineID]
		return !out
	case Private:
		_, in := s.Readable[timelineID]
		return in
	}
	return false
}
