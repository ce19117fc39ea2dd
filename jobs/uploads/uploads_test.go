package uploads

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
)

// waiting is a Files with one upload.
type waiting struct {
	upload files.Pending
	made   *files.Made
}

func (w *waiting) Pending(context.Context, int64) (files.Pending, error) { return w.upload, nil }

func (w *waiting) Finish(_ context.Context, _ files.Pending, m files.Made) (timelines.Change, bool, error) {
	w.made = &m
	return timelines.Change{}, true, nil
}

func carry(_ context.Context, c timelines.Change, err error) (timelines.Change, error) { return c, err }

// slow is a store whose every read takes a time, or that does not answer at all.
type slow struct {
	blobs.Store
	content []byte
	each    time.Duration
}

func (s slow) Open(ctx context.Context, _ blobs.Sum, _ int64) (io.ReadSeekCloser, error) {
	return &slowly{bytes.NewReader(s.content), ctx, s.each}, nil
}

func (s slow) Put(_ context.Context, content io.Reader, _ int64) (blobs.Sum, int64, error) {
	n, err := io.Copy(io.Discard, content)
	return blobs.Sum{}, n, err
}

type slowly struct {
	*bytes.Reader
	ctx  context.Context
	each time.Duration
}

func (s *slowly) Close() error { return nil }

func (s *slowly) Read(p []byte) (int, error) {
	select {
	case <-time.After(s.each):
		return s.Reader.Read(p)
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

// TestASlowStoreLosesNoPicture: the time of the store is not the picture's. One that does not
// answer within the job's time is an error, after which the job is tried again.
func TestASlowStoreLosesNoPicture(t *testing.T) {
	var content bytes.Buffer
	if err := png.Encode(&content, image.NewGray(image.Rect(0, 0, 300, 200))); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name       string
		each, most time.Duration
		err        error
	}{
		{"slow", 2 * Timeout, 100 * Timeout, nil},
		{"without an answer", 100 * Timeout, 10 * Timeout, context.DeadlineExceeded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.most)
				defer cancel()
				w := &waiting{upload: files.Pending{ID: 1, Bytes: int64(content.Len())}}
				m := Maker{
					Files: w, Blobs: slow{content: content.Bytes(), each: tc.each}, Carry: carry,
					Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
				}
				if err := m.Make(ctx, 1); !errors.Is(err, tc.err) {
					t.Errorf("got error %v, want %v", err, tc.err)
				}
				if tc.err == nil && (w.made == nil || w.made.Failed || w.made.Width != 300) || tc.err != nil && w.made != nil {
					t.Errorf("made %+v", w.made)
				}
			})
		})
	}
}
