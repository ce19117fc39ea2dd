package timelines

import "testing"

// A node knows how many keys the schema has, so that it takes no half of a restore for the whole. A
// migration that adds or removes keys changes the number.
func TestKeysOfTheSchema(t *testing.T) {
	w := newTown(t)
	h, err := w.History(t.Context(), 0)
	w.must(err)
	if h.keys != keysOfSchema || !h.Whole() {
		t.Errorf("the migrations make %d keys, and keysOfSchema is %d", h.keys, keysOfSchema)
	}
}
