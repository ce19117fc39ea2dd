// Package uploads makes the pictures that people upload: it reads an upload from the store of
// blobs, has package pictures make its sizes, stores these, and then lets the post, comment or
// account that the upload belongs to show them.
package uploads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/timelines/pictures"
)

// Timeout bounds the decoding and encoding of one picture. An honest one takes a second, and one
// with very many scans any time. Meanwhile all others wait.
const Timeout = 20 * time.Second

// maxMade is the most bytes of one size of a picture.
const maxMade = 64 << 20

// Files is what a Maker needs of the primary store; timelines.Files has it.
type Files interface {
	Pending(ctx context.Context, id int64) (files.Pending, error)
	Finish(ctx context.Context, p files.Pending, m files.Made) (c timelines.Change, done bool, err error)
}

// Maker makes pictures. It is safe for concurrent use.
type Maker struct {
	Files Files
	Blobs blobs.Store
	// Carry has rivers and nodes follow a change (tiers.Tiers).
	Carry func(context.Context, timelines.Change, error) (timelines.Change, error)
	Log   *slog.Logger
}

// Make makes a picture of the upload, unless it is gone or made already. An upload that cannot be
// read as one is recorded as failed; that is no error, and trying again would not help. An error is
// that of a store, or of ctx, and Make is to be tried again.
func (m Maker) Make(ctx context.Context, id int64) error {
	p, err := m.Files.Pending(ctx, id)
	if errors.Is(err, files.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	made, err := m.sizes(ctx, p)
	if err != nil {
		return fmt.Errorf("make a picture of file %d: %w", id, err)
	}
	return m.finish(ctx, p, made)
}

// GiveUp records the upload as failed, unless it is gone or made already.
func (m Maker) GiveUp(ctx context.Context, id int64) error {
	p, err := m.Files.Pending(ctx, id)
	if errors.Is(err, files.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return m.finish(ctx, p, files.Made{Failed: true})
}

// finish records what was made. The file may come to a post in the meantime; then it is that
// post's change.
func (m Maker) finish(ctx context.Context, p files.Pending, made files.Made) error {
	for {
		c, done, err := m.Files.Finish(ctx, p, made)
		_, err = m.Carry(ctx, c, err)
		if err != nil || done {
			return err
		}
		p, err = m.Files.Pending(ctx, p.ID)
		if errors.Is(err, files.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sizes stores the sizes of a picture.
func (m Maker) sizes(ctx context.Context, p files.Pending) (files.Made, error) {
	made, err := m.read(ctx, p)
	switch {
	case errors.Is(err, pictures.ErrNotPicture), errors.Is(err, pictures.ErrCorrupt), errors.Is(err, pictures.ErrTooManyPixels),
		errors.Is(err, errSlow), errors.Is(err, blobs.ErrNotFound), errors.Is(err, blobs.ErrDamaged):
		m.Log.InfoContext(ctx, "an upload is no picture", "file", p.ID, "error", err)
		return files.Made{Failed: true}, nil
	case err != nil:
		return files.Made{}, err
	}
	all := files.Made{Blurhash: made.Blurhash, Width: made.Files[0].Width, Height: made.Files[0].Height}
	if all.Blobs, err = Store(ctx, m.Blobs, made.Files); err != nil {
		return files.Made{}, err
	}
	if p.AccountID != 0 && len(all.Blobs) == 1 { // a tiny one serves for both sizes
		small := all.Blobs[0]
		small.Size = string(pictures.AvatarSmall)
		all.Blobs = append(all.Blobs, small)
	}
	return all, nil
}

// Store stores the sizes of a picture.
func Store(ctx context.Context, store blobs.Store, sizes []pictures.File) ([]files.MadeBlob, error) {
	var all []files.MadeBlob
	for _, f := range sizes {
		sum, n, err := store.Put(ctx, bytes.NewReader(f.Data), maxMade)
		if err != nil {
			return nil, err
		}
		all = append(all, files.MadeBlob{Size: string(f.Size), Type: f.Type, Sum: sum, Bytes: n})
	}
	return all, nil
}

// errSlow says that a picture takes longer to decode than any honest one. The time of the store of
// blobs is no part of that: it says nothing of the picture.
var errSlow = errors.New("the picture takes too long")

func (m Maker) read(ctx context.Context, p files.Pending) (pictures.Picture, error) {
	upload, err := m.fetch(ctx, p)
	if err != nil {
		return pictures.Picture{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, Timeout, errSlow)
	defer cancel()
	made, err := decode(limited, bytes.NewReader(upload), p.AccountID != 0)
	if err != nil && errors.Is(context.Cause(limited), errSlow) {
		err = errSlow
	}
	return made, err
}

// fetch returns the whole upload, which is of a bounded size.
func (m Maker) fetch(ctx context.Context, p files.Pending) (content []byte, err error) {
	upload, err := m.Blobs.Open(ctx, p.Sum, p.Bytes)
	if err != nil {
		return nil, err
	}
	content = make([]byte, p.Bytes)
	_, err = io.ReadFull(upload, content)
	return content, errors.Join(err, upload.Close())
}

func decode(ctx context.Context, upload io.ReadSeeker, avatar bool) (pictures.Picture, error) {
	if !avatar {
		return pictures.Make(ctx, upload, pictures.Limits{})
	}
	sizes, err := pictures.Avatar(ctx, upload, pictures.Limits{})
	return pictures.Picture{Files: sizes}, err
}
