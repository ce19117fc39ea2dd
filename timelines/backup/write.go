package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"riverrun/timelines/blobs"
)

// partSize is how much of the dump is in one entry, and in memory.
const partSize = 4 << 20

// Writer writes a backup: first the dump, as an io.Writer, then Files, then Close. It is for one
// goroutine.
type Writer struct {
	tar    *tar.Writer
	sum    summed
	part   []byte
	totals Totals
}

// NewWriter begins a backup with its manifest. Its Format is set here.
func NewWriter(w io.Writer, m Manifest) (*Writer, error) {
	b := &Writer{tar: tar.NewWriter(w), sum: newSummed(), part: make([]byte, 0, partSize)}
	m.Format = Format
	if err := b.object(manifestName, m); err != nil {
		return nil, err
	}
	return b, nil
}

// Totals are what was written until now.
func (b *Writer) Totals() Totals { return b.totals }

// Write adds to the dump.
func (b *Writer) Write(p []byte) (n int, err error) {
	for n < len(p) {
		some := p[n:min(len(p), n+partSize-len(b.part))]
		b.part = append(b.part, some...)
		n += len(some)
		if len(b.part) == partSize {
			if err := b.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (b *Writer) flush() error {
	if len(b.part) == 0 {
		return nil
	}
	b.totals.Parts++
	b.totals.Dump += int64(len(b.part))
	err := b.entry(fmt.Sprintf(partPattern, b.totals.Parts), int64(len(b.part)), bytes.NewReader(b.part))
	b.part = b.part[:0]
	return err
}

// Files adds all blobs of a store. It calls each before each of them.
func (b *Writer) Files(ctx context.Context, store blobs.Store, each func()) error {
	if err := b.flush(); err != nil {
		return err
	}
	return store.Walk(ctx, func(sum blobs.Sum, size int64, _ time.Time) error {
		each()
		content, err := store.Open(ctx, sum, size)
		if err != nil {
			return err
		}
		own := sha256.New()
		err = b.entry(filesFolder+sum.String(), size, io.TeeReader(content, own))
		if err := errors.Join(err, content.Close()); err != nil {
			return fmt.Errorf("blob %s: %w", sum, err)
		}
		b.totals.Files++
		b.totals.Bytes += size
		if blobs.Sum(own.Sum(nil)) != sum {
			b.totals.Spoilt++
		}
		return nil
	})
}

// Close ends the backup. Without it the backup counts as cut off.
func (b *Writer) Close() error {
	if err := b.flush(); err != nil {
		return err
	}
	if err := b.object(endName, end{b.totals, b.sum.String()}); err != nil {
		return err
	}
	return b.tar.Close()
}

func (b *Writer) object(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	return b.entry(name, int64(len(text)), bytes.NewReader(text))
}

func (b *Writer) entry(name string, size int64, content io.Reader) error {
	b.sum.begin(name, size)
	if err := b.tar.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	n, err := io.Copy(io.MultiWriter(b.tar, b.sum), content)
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return err
}
