package sources

import (
	"context"
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/files"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/photos"
)

// standsAt remembers the line of an item with pictures, for later problems of these pictures.
func (b *batch) standsAt(i int, it *formats.Item) {
	if len(it.Pictures) == 0 {
		return
	}
	if b.lines == nil {
		b.lines = map[string]int64{}
	}
	b.lines[it.ID] = b.load.Cursor + int64(i)
}

// keepPictures stores the pictures of new and changed items. A picture whose address stays keeps its
// file. If its address is gone, the file is taken from the post (G20). A post that was edited here is
// left alone. edited are the posts whose texts changed.
func (b *batch) keepPictures(ctx context.Context, x *timelines.ItemsTx, edited []int64) error {
	most := b.store.posts.Files.MostOfPost()
	var come []photos.Item
	known := slices.Clip(b.edits)
	var held []int64 // ids of items that were present without a post
	for _, it := range b.fresh {
		if _, present := b.stored[it.ID]; present {
			known, held = append(known, it), append(held, b.ids[it.ID])
		} else if wanted := photos.Wanted(it.Item, most); len(wanted) > 0 {
			come = append(come, photos.Item{ID: b.ids[it.ID], Line: b.lines[it.ID], Pictures: wanted})
		}
	}
	if len(known) > 0 {
		changed, err := b.changePictures(ctx, x, known, edited, most)
		if err != nil {
			return err
		}
		come = append(come, changed...)
	}
	if err := photos.Note(ctx, b.tx, b.source.ID, b.load.ID, come); err != nil {
		return err
	}
	return b.attachMade(ctx, x, held)
}

// changePictures compares the pictures of changed items with the stored ones, and returns the new
// ones.
func (b *batch) changePictures(ctx context.Context, x *timelines.ItemsTx, known []entry, edited []int64, most int) ([]photos.Item, error) {
	items := make([]int64, len(known))
	for i, it := range known {
		items[i] = b.ids[it.ID]
	}
	open, err := photos.OpenOf(ctx, b.tx, items)
	if err != nil {
		return nil, err
	}
	var come []photos.Item
	var moved []photos.Stored
	var gone, posts, goneFiles []int64
	var moves []files.Move
	for _, it := range known {
		o, is := open[b.ids[it.ID]]
		if !is {
			continue
		}
		d := compare(o.Pictures, photos.Wanted(it.Item, most))
		if !d.differs() {
			continue
		}
		if b.stored[it.ID].PostID != 0 && !slices.Contains(edited, o.Post) {
			b.counts.Changed++
			b.counts.Skipped--
			b.pushed.changed(it.ID)
		}
		posts, gone, goneFiles = append(posts, o.Post), append(gone, d.gone...), append(goneFiles, d.files...)
		moved, moves = append(moved, d.moved...), append(moves, d.moves...)
		if d.comes {
			come = append(come, photos.Item{ID: b.ids[it.ID], Line: b.lines[it.ID], Pictures: d.come})
		}
	}
	if len(goneFiles)+len(moves) > 0 {
		if _, err := x.Rearrange(ctx, posts, goneFiles, moves); err != nil {
			return nil, err
		}
	}
	if len(gone)+len(moved) > 0 {
		return come, photos.Move(ctx, b.tx, moved, gone)
	}
	return come, nil
}

// difference compares the pictures that an item had with those that it has now.
type difference struct {
	gone, files []int64 // of item_pictures, and the files that go with them
	moved       []photos.Stored
	moves       []files.Move
	// come are all pictures, in their order. Those that are stored already have no address here.
	come  []formats.Picture
	comes bool
}

func (d *difference) differs() bool { return d.comes || len(d.gone)+len(d.moved) > 0 }

func compare(had []photos.Stored, has []formats.Picture) difference {
	var d difference
	stays := map[int64]bool{} // files
	for i, p := range has {
		at := slices.IndexFunc(had, func(s photos.Stored) bool { return s.URL == p.URL })
		if at < 0 {
			d.come, d.comes = append(d.come, p), true
			continue
		}
		d.come = append(d.come, formats.Picture{})
		s := had[at]
		if s.File != 0 && !stays[s.File] && (s.No != i+1 || s.Text != p.Text) {
			d.moves = append(d.moves, files.Move{File: s.File, Position: i + 1, Alt: p.Text})
		}
		stays[s.File] = true
		if s.No != i+1 || s.Text != p.Text {
			s.No, s.Text = i+1, p.Text
			d.moved = append(d.moved, s)
		}
	}
	for _, s := range had {
		if !slices.ContainsFunc(has, func(p formats.Picture) bool { return p.URL == s.URL }) {
			d.gone = append(d.gone, s.ID)
			if s.File != 0 && !stays[s.File] {
				d.files = append(d.files, s.File)
			}
		}
	}
	return d
}
