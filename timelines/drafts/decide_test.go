package drafts_test

import (
	"fmt"
	"testing"
	"time"

	"riverrun/timelines/drafts"
)

// TestDecide is the whole truth table of G4: each of the two drafts is missing, of the category asked
// for, or of another; the category is given or not; and either may be the newer one, or neither.
func TestDecide(t *testing.T) {
	const none, of, other = "none", "of it", "other"
	const earlier, later, same = "visitor's earlier", "visitor's later", "same time"
	type row struct {
		visitor, account string
		given            bool
		when             string
	}
	const cur, res, kept = drafts.Current, drafts.Reset, drafts.Kept
	table := map[row]drafts.Outcome{}
	for _, line := range []struct {
		visitor, account     string
		given                bool
		earlier, later, same drafts.Outcome
	}{
		// A category is given, and neither draft is of it (a).
		{none, none, true, drafts.Outcome{New: true}, drafts.Outcome{New: true}, drafts.Outcome{New: true}},
		{none, other, true, drafts.Outcome{Account: res}, drafts.Outcome{Account: res}, drafts.Outcome{Account: res}},
		{other, none, true, drafts.Outcome{Visitor: res}, drafts.Outcome{Visitor: res}, drafts.Outcome{Visitor: res}},
		{other, other, true, drafts.Outcome{kept, res, false}, drafts.Outcome{kept, res, false}, drafts.Outcome{kept, res, false}},
		// One is (b).
		{none, of, true, drafts.Outcome{Account: cur}, drafts.Outcome{Account: cur}, drafts.Outcome{Account: cur}},
		{of, none, true, drafts.Outcome{Visitor: cur}, drafts.Outcome{Visitor: cur}, drafts.Outcome{Visitor: cur}},
		{other, of, true, drafts.Outcome{kept, cur, false}, drafts.Outcome{kept, cur, false}, drafts.Outcome{kept, cur, false}},
		{of, other, true, drafts.Outcome{cur, kept, false}, drafts.Outcome{cur, kept, false}, drafts.Outcome{cur, kept, false}},
		// Both are, or no category is given (c).
		{of, of, true, drafts.Outcome{kept, cur, false}, drafts.Outcome{cur, kept, false}, drafts.Outcome{kept, cur, false}},
		{none, none, false, drafts.Outcome{}, drafts.Outcome{}, drafts.Outcome{}},
		{none, of, false, drafts.Outcome{Account: cur}, drafts.Outcome{Account: cur}, drafts.Outcome{Account: cur}},
		{none, other, false, drafts.Outcome{Account: cur}, drafts.Outcome{Account: cur}, drafts.Outcome{Account: cur}},
		{of, none, false, drafts.Outcome{Visitor: cur}, drafts.Outcome{Visitor: cur}, drafts.Outcome{Visitor: cur}},
		{other, none, false, drafts.Outcome{Visitor: cur}, drafts.Outcome{Visitor: cur}, drafts.Outcome{Visitor: cur}},
		{of, of, false, drafts.Outcome{kept, cur, false}, drafts.Outcome{cur, kept, false}, drafts.Outcome{kept, cur, false}},
		{of, other, false, drafts.Outcome{kept, cur, false}, drafts.Outcome{cur, kept, false}, drafts.Outcome{kept, cur, false}},
		{other, of, false, drafts.Outcome{kept, cur, false}, drafts.Outcome{cur, kept, false}, drafts.Outcome{kept, cur, false}},
		{other, other, false, drafts.Outcome{kept, cur, false}, drafts.Outcome{cur, kept, false}, drafts.Outcome{kept, cur, false}},
	} {
		table[row{line.visitor, line.account, line.given, earlier}] = line.earlier
		table[row{line.visitor, line.account, line.given, later}] = line.later
		table[row{line.visitor, line.account, line.given, same}] = line.same
	}
	states, now := []string{none, of, other}, time.Unix(1_800_000_000, 0)
	draft := func(state, place string, at time.Time) *drafts.Candidate {
		switch state {
		case none:
			return nil
		case of:
			place = "/chess-club"
		}
		return &drafts.Candidate{Place: place, SavedAt: at}
	}
	tried := 0
	for _, visitor := range states {
		for _, account := range states {
			for _, given := range []bool{true, false} {
				for when, at := range map[string]time.Time{earlier: now.Add(-time.Second), later: now.Add(time.Second), same: now} {
					r := row{visitor, account, given, when}
					want, ok := table[r]
					category := ""
					if given {
						category = "/chess-club"
					}
					got := drafts.Decide(draft(visitor, "/", at), draft(account, "/ann", now), category)
					if !ok || got != want {
						t.Errorf("%s: got %+v, want %+v", fmt.Sprintf("%+v", r), got, want)
					}
					tried++
				}
			}
		}
	}
	if tried != len(table) || tried != 3*3*2*3 {
		t.Errorf("tried %d of %d rows", tried, len(table))
	}
}
