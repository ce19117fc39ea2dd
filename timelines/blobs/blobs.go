package blobs

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"time"
)

var (
	// ErrNotFound says that there is no blob of that sum.
	ErrNotFound = errors.New("no such blob")
	// ErrTooLarge says that the content was longer than the limit.
	ErrTooLarge = errors.New("the content is longer than allowed")
	// ErrDamaged says that the blob does not have its recorded size.
	ErrDamaged = errors.New("the blob does not have its recorded size")
)

// Store keeps blobs. Its methods may be called at the same time, and by several processes
// on the same directory or bucket. An error that is none of this package's means that the
// disk or the object storage failed, or that the context ended.
type Store interface {
	// Put stores content and returns its sum and its size in bytes. If it is longer than
	// limit bytes, nothing is stored and the error is ErrTooLarge. An error of content is
	// wrapped. The end of ctx is noticed between reads; one that hangs must be ended by
	// the reader's owner, as net/http ends the reads of a request.
	//
	// If the blob is there already, Put makes it new, and mends it should it be damaged.
	Put(ctx context.Context, content io.Reader, limit int64) (sum Sum, size int64, err error)

	// Open opens a blob for reading, as http.ServeContent does it. size is the recorded
	// size, as Put returned it. The error is ErrNotFound, or ErrDamaged if the blob has
	// another size. The content can be read while ctx lasts and until it is closed, also
	// while the blob is put again. If the blob is deleted meanwhile, a read may fail. The
	// content is for one goroutine.
	Open(ctx context.Context, sum Sum, size int64) (io.ReadSeekCloser, error)

	// Delete deletes a blob at once, whatever its age. That it is absent is no error. A
	// Put at the same time may lose its blob; DeleteOlder is for sweeps.
	Delete(ctx context.Context, sum Sum) error

	// DeleteOlder deletes a blob if its last Put is older than the time before, and
	// reports whether it did. It may spare blobs that are older by less than a second,
	// because some storages round times down. A Put at the same time keeps its blob.
	DeleteOlder(ctx context.Context, sum Sum, before time.Time) (deleted bool, err error)

	// Walk calls visit for each blob with its size in bytes and the time of its last Put,
	// and stops at the first error of visit, which it returns. A blob that is put or
	// deleted meanwhile may be visited or not. visit may call all methods of the store.
	// The memory that Walk needs does not grow with the number of blobs. Files that are
	// no blobs are ignored.
	Walk(ctx context.Context, visit func(sum Sum, size int64, modified time.Time) error) error

	// DeleteLeftovers deletes what crashes in the middle of other methods left behind
	// before a time. The time must be so long ago that no upload lasts until now: a day.
	DeleteLeftovers(ctx context.Context, before time.Time) error

	// Probe reports whether blobs can be put now: it writes a little and removes it. On a
	// network disk that hangs it may outlast ctx; Health bounds it.
	Probe(ctx context.Context) error
}

// isOlder reports whether a blob's last Put was surely before a time. S3 rounds times down
// to seconds, as some file systems do.
func isOlder(modified, before time.Time) bool {
	return modified.Add(time.Second).Before(before)
}

// spool copies content to a file, up to limit bytes, and returns its sum and size.
func spool(ctx context.Context, file io.Writer, content io.Reader, limit int64) (Sum, int64, error) {
	reader := readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return content.Read(p)
	})
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, hash), io.LimitReader(reader, limit))
	if err != nil {
		return Sum{}, 0, err
	}
	if size >= limit {
		switch _, err := io.ReadFull(reader, make([]byte, 1)); {
		case err == nil:
			return Sum{}, 0, ErrTooLarge
		case !errors.Is(err, io.EOF):
			return Sum{}, 0, err
		}
	}
	return Sum(hash.Sum(nil)), size, ctx.Err()
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
