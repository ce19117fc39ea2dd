package archives

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"riverrun/timelines/blobs"
	"riverrun/timelines/exports"
)

// maxArchive is the most bytes of an archive. The disk ends before.
const maxArchive = 1 << 50

// Maker makes archives. It is safe for concurrent use.
type Maker struct {
	Exports *exports.Store
	Blobs   blobs.Store
	Log     *slog.Logger
}

// Make makes the archive of a wish, unless it is made or not wanted any more. An error is that of a
// store, or of ctx, and Make is to be tried again.
func (m Maker) Make(ctx context.Context, id int64) error {
	wish, err := m.Exports.Begin(ctx, id)
	if err == nil {
		err = m.make(ctx, wish)
	}
	if err != nil && !errors.Is(err, exports.ErrGone) {
		return fmt.Errorf("make archive %d: %w", id, err)
	}
	return nil
}

func (m Maker) make(ctx context.Context, wish exports.Wish) error {
	content, out := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		out.CloseWithError(m.write(ctx, wish, out))
	}()
	sum, bytes, err := m.Blobs.Put(ctx, content, maxArchive)
	_ = content.Close() // always nil; a Put that failed reads no more, and the writer must end
	<-written
	if err != nil {
		return err
	}
	return m.Exports.Finish(ctx, wish.ID, sum, bytes)
}
