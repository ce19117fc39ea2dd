package changes

import "time"

// SetClock sets the log's clock.
func (s *Store) SetClock(now func() time.Time) { s.now = now }
