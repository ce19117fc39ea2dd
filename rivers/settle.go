package rivers

import "context"

// Settle reads the access clock and brings this node's cache of access there.
// What is decided from the primary store alone, such as a form's right to do its
// work, begins with it: a narrowing acknowledged before is known after.
func (s *Store) Settle(ctx context.Context) error {
	_, err := s.clock(ctx)
	return err
}
