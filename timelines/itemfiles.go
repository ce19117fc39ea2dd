package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
)

// ItemFile is a picture for a post of a source, made and stored.
type ItemFile struct {
	PostID int64
	// Position is its place among the files of the post, from 1.
	Position  int
	Name, Alt string
	// Copy is a file of the same picture; else the rest says what it is.
	Copy  int64
	Sum   blobs.Sum // of the picture as it came
	Bytes int64
	Made  files.Made
}

// Change makes a change of posts of sources in a transaction of its own, which runs again if it
// loses a race.
func (s Items) Change(ctx context.Context, fn func(pgx.Tx) (Change, error)) (Change, error) {
	return s.change(ctx, fn)
}

// Open locks those of these posts that nobody has edited or deleted here, in the order of their
// ids, and returns them without those that stand where their author may not post any more.
func (x *ItemsTx) Open(ctx context.Context, ids []int64) ([]int64, error) {
	open, _, err := x.open(ctx, ids)
	return open, err
}

// Attach attaches pictures to posts that are Open, and returns the ids of the files in the same
// order. A picture that the post has already is that file. It returns 0 where the post has as many files
// as it may, and where there is nothing to copy.
func (x *ItemsTx) Attach(ctx context.Context, list []ItemFile) ([]int64, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var posts, copies []int64
	for _, f := range list {
		posts = append(posts, f.PostID)
		if f.Copy != 0 {
			copies = append(copies, f.Copy)
		}
	}
	known, err := files.KnownOf(ctx, x.tx, union(posts, nil), copies)
	if err != nil {
		return nil, err
	}
	sums := map[int64]blobs.Sum{}
	// By post: the ids of its pictures, and of those that it will have their places in ready, negative.
	has := map[int64]map[blobs.Sum]int64{}
	full := map[int64]int{}
	for _, k := range known {
		sums[k.ID] = k.Sum
		if has[k.Post] == nil {
			has[k.Post] = map[blobs.Sum]int64{}
		}
		has[k.Post][k.Sum] = k.ID
		full[k.Post]++
	}
	ids := make([]int64, len(list))
	var ready []files.Ready
	at := make([]int, len(list)) // places in ready
	for i, f := range list {
		at[i] = -1
		if f.Copy != 0 {
			var there bool
			if f.Sum, there = sums[f.Copy]; !there {
				continue
			}
		}
		if has[f.PostID] == nil {
			has[f.PostID] = map[blobs.Sum]int64{}
		}
		id, twice := has[f.PostID][f.Sum]
		switch {
		case twice && id > 0:
			ids[i] = id
		case twice:
			at[i] = int(-id)
		case full[f.PostID] < x.core.opts.PostFiles:
			at[i] = len(ready)
			has[f.PostID][f.Sum] = int64(-at[i])
			full[f.PostID]++
			ready = append(ready, files.Ready{
				Code: newCode(), Post: f.PostID, Position: f.Position, Name: f.Name, Alt: f.Alt,
				Copy: f.Copy, Sum: f.Sum, Bytes: f.Bytes, Made: f.Made,
			})
		}
	}
	if len(ready) == 0 {
		return ids, nil
	}
	var gain []int64
	for _, r := range ready {
		gain = append(gain, r.Post)
	}
	if err := x.raise(ctx, union(gain, nil)); err != nil {
		return nil, err
	}
	made, err := files.Attach(ctx, x.tx, x.place.Author, ready)
	if err != nil {
		return nil, err
	}
	for i, r := range ready {
		if made[i] == 0 {
			return nil, fmt.Errorf("attach a picture: the code %s is in use", r.Code)
		}
	}
	for i, n := range at {
		if n >= 0 {
			ids[i] = made[n]
		}
	}
	return ids, nil
}

// Rearrange removes files of posts and moves others, and returns the posts that are other ones now.
// The posts must be locked, by Edit.
func (x *ItemsTx) Rearrange(ctx context.Context, posts, gone []int64, moves []files.Move) ([]int64, error) {
	changed, err := files.Rearrange(ctx, x.tx, posts, gone, moves)
	if err != nil {
		return nil, err
	}
	x.rewritten = append(x.rewritten, changed...)
	return changed, x.raise(ctx, changed)
}
