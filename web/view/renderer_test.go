package view

import (
	"testing"

	"riverrun/rivers"
	"riverrun/timelines/access"
	"riverrun/timelines/reads"
)

// The likers of folded comments may be too many to tell. Then an entry's word knows the
// viewer's own bans, and tells nothing of others'.
func TestHiddenUsersOfVeryManyFolded(t *testing.T) {
	s := testRenderer(t)
	it := &rivers.Item{PostID: 7, Fold: &rivers.Fold{Comments: rivers.CommentsFold{Total: 1003}}}
	none := s.Tag(it, &access.Sets{AccountID: 1}, nil, reads.Marks{})
	if s.Tag(it, &access.Sets{AccountID: 1, BannedBy: access.NewIDs(2)}, nil, reads.Marks{}) != none {
		t.Error("it tells that somebody bans the viewer")
	}
	if s.Tag(it, &access.Sets{AccountID: 1, Bans: access.NewIDs(2)}, nil, reads.Marks{}) == none {
		t.Error("it does not know of the viewer's own bans")
	}
	if s.Tag(it, &access.Sets{AccountID: 3}, nil, reads.Marks{}) == none {
		t.Error("two viewers have the same word, and can compare")
	}
}
