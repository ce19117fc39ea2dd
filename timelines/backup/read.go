package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"riverrun/timelines/blobs"
)

// Reader reads a backup: first the dump, as an io.Reader, then Files, which also compares what was
// read with the end. Nothing that was read may count before Files has returned. It is for one
// goroutine.
type Reader struct {
	// Manifest is what the backup says of itself.
	Manifest Manifest

	tar *tar.Reader
	sum summed
	// name and size are those of the present entry, whose content is read from the tar.
	name   string
	size   int64
	totals Totals
}

// NewReader begins to read a backup. The error is ErrForeign, ErrNewer or ErrDamaged, or that of
// r.
func NewReader(r io.Reader) (*Reader, error) {
	b := &Reader{tar: tar.NewReader(r), sum: newSummed()}
	switch err := b.next(); {
	case errors.Is(err, tar.ErrHeader), err == nil && b.name != manifestName:
		return nil, ErrForeign
	case err != nil:
		return nil, err
	}
	if err := b.object(&b.Manifest); err != nil {
		return nil, err
	}
	if b.Manifest.Format > Format {
		return nil, fmt.Errorf("%w: its format is %d, and this one knows %d", ErrNewer, b.Manifest.Format, Format)
	}
	return b, b.next()
}

// next goes to the next entry.
func (b *Reader) next() error {
	h, err := b.tar.Next()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends too early", ErrDamaged)
	case errors.Is(err, tar.ErrHeader):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case err != nil:
		return err
	case h.Typeflag != tar.TypeReg:
		return fmt.Errorf("%w: %q is not a file", ErrDamaged, h.Name)
	}
	b.name, b.size = h.Name, h.Size
	if b.name != endName {
		b.sum.begin(b.name, b.size)
	}
	return nil
}

// content reads the present entry.
func (b *Reader) content(p []byte) (int, error) {
	n, err := b.tar.Read(p)
	_, _ = b.sum.Write(p[:n]) // a hash never fails
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: it ends too early", ErrDamaged)
	}
	return n, err
}

// object reads the present entry into a value.
func (b *Reader) object(value any) error {
	const most = 1 << 20
	if b.size > most {
		return fmt.Errorf("%w: %s has %d bytes", ErrDamaged, b.name, b.size)
	}
	var text bytes.Buffer
	if _, err := io.Copy(&text, readFunc(b.content)); err != nil {
		return err
	}
	if err := json.Unmarshal(text.Bytes(), value); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, b.name, err)
	}
	return nil
}

// Totals are what was read until now.
func (b *Reader) Totals() Totals { return b.totals }

// Read reads the dump.
func (b *Reader) Read(p []byte) (int, error) {
	for b.name == fmt.Sprintf(partPattern, b.totals.Parts+1) {
		n, err := b.content(p)
		b.totals.Dump += int64(n)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		b.totals.Parts++
		if err := b.next(); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, io.EOF
}

// Files reads the rest of the backup. It calls put for each blob, which need not read all of it,
// and compares the whole with the end.
func (b *Reader) Files(ctx context.Context, put func(sum blobs.Sum, size int64, content io.Reader) error) error {
	if _, err := io.Copy(io.Discard, readFunc(b.Read)); err != nil {
		return err
	}
	for b.name != endName {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, ok := strings.CutPrefix(b.name, filesFolder)
		sum, err := blobs.ParseSum(name)
		if !ok || err != nil {
			return fmt.Errorf("%w: %q is out of place", ErrDamaged, b.name)
		}
		if err := put(sum, b.size, readFunc(b.content)); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, readFunc(b.content)); err != nil {
			return err
		}
		b.totals.Files++
		b.totals.Bytes += b.size
		if err := b.next(); err != nil {
			return err
		}
	}
	return b.end()
}

func (b *Reader) end() error {
	got := end{b.totals, b.sum.String()}
	var want end
	if err := b.object(&want); err != nil {
		return err
	}
	b.totals.Spoilt = want.Spoilt
	got.Spoilt = want.Spoilt // each is found by its sum, if at all
	if got != want {
		return fmt.Errorf("%w: it holds %+v, and should hold %+v", ErrDamaged, got, want)
	}
	return nil
}

// Verify reads a whole backup, and returns its manifest and what it holds.
func Verify(ctx context.Context, r io.Reader) (Manifest, Totals, error) {
	b, err := NewReader(r)
	if err != nil {
		return Manifest{}, Totals{}, err
	}
	err = b.Files(ctx, func(blobs.Sum, int64, io.Reader) error { return nil })
	return b.Manifest, b.totals, err
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
