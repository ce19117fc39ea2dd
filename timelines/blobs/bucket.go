package blobs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// deletionTime is how long DeleteOlder may take from its announcement to its end.
	deletionTime = 30 * time.Second
	// patience is how long Put waits for the end of a deletion that was announced. It is
	// longer than a deletion takes, so that what is left was left by a crash.
	patience = 2 * deletionTime
	// pollEvery is how often it looks.
	pollEvery = 50 * time.Millisecond
	// tries is how often a request is sent before its failure is an error.
	tries = 3
)

// bucket is a Store in a bucket of an object storage that speaks S3:
//
//	prefix/ab/cd/abcd…   the blobs
//	prefix/tmp/abcd…/…   the announcements of deletions of the blob abcd…
//
// An object is written by one request, and so it is whole or absent.
type bucket struct {
	client *minio.Client
	// once sends each request once. A repeated deletion could arrive late, when its
	// announcement is gone.
	once         *minio.Client
	name, prefix string
	// patience is the constant, and spools is empty for the system's folder for temporary
	// files. Only tests change them.
	patience time.Duration
	spools   string
}

// openBucket opens an existing bucket, and tries whether it can be written.
func openBucket(ctx context.Context, l Location) (*bucket, error) {
	b, err := newBucket(l)
	if err != nil {
		return nil, err
	}
	if err := b.try(ctx); err != nil {
		return nil, fmt.Errorf("bucket %s at %s: %w", l.bucket, l.host, err)
	}
	return b, nil
}

// newBucket asks nothing of the storage.
func newBucket(l Location) (*bucket, error) {
	options := minio.Options{
		Creds:      credentials.NewStaticV4(l.key, l.secret, ""),
		Secure:     !l.insecure,
		Region:     l.region,
		MaxRetries: tries,
	}
	client, err := minio.New(l.host, &options)
	if err != nil {
		return nil, fmt.Errorf("bucket %s at %s: %w", l.bucket, l.host, err)
	}
	options.MaxRetries = 1
	once, err := minio.New(l.host, &options)
	if err != nil {
		return nil, fmt.Errorf("bucket %s at %s: %w", l.bucket, l.host, err)
	}
	return &bucket{client: client, once: once, name: l.bucket, prefix: l.prefix, patience: patience}, nil
}

// Probe writes and deletes an object.
func (b *bucket) Probe(ctx context.Context) error {
	key := b.key(temporary, "probe", rand.Text())
	if err := b.mark(ctx, key); err != nil {
		return fmt.Errorf("bucket %s: write into it: %w", b.name, err)
	}
	if err := b.remove(ctx, key); err != nil {
		return fmt.Errorf("bucket %s: delete from it: %w", b.name, err)
	}
	return nil
}

// try is what a store is opened with: it must exist, and be written and read.
func (b *bucket) try(ctx context.Context) error {
	exists, err := b.client.BucketExists(ctx, b.name)
	if err != nil {
		return fmt.Errorf("look for it: %w", err)
	}
	if !exists {
		return errors.New("it does not exist")
	}
	key := b.key(temporary, "probe", rand.Text())
	if err := b.mark(ctx, key); err != nil {
		return fmt.Errorf("write into it: %w", err)
	}
	if _, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{}); err != nil {
		return fmt.Errorf("read from it: %w", err)
	}
	if err := b.remove(ctx, key); err != nil {
		return fmt.Errorf("delete from it: %w", err)
	}
	return nil
}

func (b *bucket) key(below ...string) string {
	return path.Join(b.prefix, path.Join(below...))
}

// Put reads the content into a file in the system's folder for temporary files first. The
// file has no name, and so it ends with the process.
func (b *bucket) Put(ctx context.Context, content io.Reader, limit int64) (Sum, int64, error) {
	sum, size, err := b.put(ctx, content, limit)
	if err != nil {
		return Sum{}, 0, fmt.Errorf("put blob: %w", err)
	}
	return sum, size, nil
}

func (b *bucket) put(ctx context.Context, content io.Reader, limit int64) (sum Sum, size int64, err error) {
	file, err := os.CreateTemp(b.spools, "riverrun-blob-*")
	if err != nil {
		return Sum{}, 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := os.Remove(file.Name()); err != nil {
		return Sum{}, 0, err
	}
	if sum, size, err = spool(ctx, file, content, limit); err != nil {
		return Sum{}, 0, err
	}
	for kept := false; !kept; {
		if err := b.write(ctx, b.key(sum.path()), io.NewSectionReader(file, 0, size), size, sum); err != nil {
			return Sum{}, 0, err
		}
		if kept, err = b.outlivesDeletions(ctx, sum); err != nil {
			return Sum{}, 0, err
		}
	}
	return sum, size, nil
}

// outlivesDeletions reports whether the blob that was just written is there to stay. If
// deletions were announced, it waits for their end and reports false. doc.go says why the
// order of the steps matters.
func (b *bucket) outlivesDeletions(ctx context.Context, sum Sum) (bool, error) {
	announced, err := b.announcements(ctx, sum)
	if err != nil {
		return false, err
	}
	if len(announced) == 0 {
		_, err := b.client.StatObject(ctx, b.name, b.key(sum.path()), minio.StatObjectOptions{})
		if isMissing(err) {
			return false, nil
		}
		return err == nil, err
	}
	waited := time.NewTimer(b.patience)
	defer waited.Stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-waited.C:
			for _, key := range announced {
				if err := b.remove(ctx, key); err != nil {
					return false, err
				}
			}
			return false, nil
		case <-poll.C:
		}
		now, err := b.announcements(ctx, sum)
		if err != nil {
			return false, err
		}
		// Those that came later see the time of this Put.
		announced = slices.DeleteFunc(announced, func(key string) bool { return !slices.Contains(now, key) })
		if len(announced) == 0 {
			return false, nil
		}
	}
}

// announcements returns the keys of the announced deletions of a blob.
func (b *bucket) announcements(ctx context.Context, sum Sum) (keys []string, err error) {
	err = b.list(ctx, b.key(temporary, sum.String())+"/", func(object minio.ObjectInfo) error {
		keys = append(keys, object.Key)
		return nil
	})
	return keys, err
}

// write writes an object in one request, because parts would be left behind by a crash. The
// sum is signed, so that the storage refuses anything but this content.
func (b *bucket) write(ctx context.Context, key string, content io.ReadSeeker, size int64, sum Sum) error {
	_, err := minio.Core{Client: b.client}.PutObject(ctx, b.name, key, content, size, "", sum.String(),
		minio.PutObjectOptions{DisableContentSha256: true}) // not by a sum of its own
	return err
}

// mark writes an object that says all by its key.
func (b *bucket) mark(ctx context.Context, key string) error {
	return b.write(ctx, key, strings.NewReader(""), 0, sha256.Sum256(nil))
}

// remove removes an object, if it is there.
func (b *bucket) remove(ctx context.Context, key string) error {
	return b.once.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{})
}

func (b *bucket) Open(ctx context.Context, sum Sum, size int64) (io.ReadSeekCloser, error) {
	object, err := b.client.GetObject(ctx, b.name, b.key(sum.path()), minio.GetObjectOptions{})
	if err != nil {
		return nil, fmt.Errorf("open blob: %w", err)
	}
	info, err := object.Stat()
	if isMissing(err) {
		err = ErrNotFound
	}
	if err == nil && info.Size != size {
		err = fmt.Errorf("%w: it has %d bytes instead of %d", ErrDamaged, info.Size, size)
	}
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", sum, errors.Join(err, object.Close()))
	}
	return object, nil
}

func (b *bucket) Delete(ctx context.Context, sum Sum) error {
	if err := b.remove(ctx, b.key(sum.path())); err != nil {
		return fmt.Errorf("delete blob %s: %w", sum, err)
	}
	return nil
}

func (b *bucket) DeleteOlder(ctx context.Context, sum Sum, before time.Time) (bool, error) {
	deleted, err := b.deleteOlder(ctx, sum, before)
	if err != nil {
		return deleted, fmt.Errorf("delete blob %s: %w", sum, err)
	}
	return deleted, nil
}

func (b *bucket) deleteOlder(ctx context.Context, sum Sum, before time.Time) (deleted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, deletionTime)
	defer cancel()
	announcement := b.key(temporary, sum.String(), rand.Text())
	if err := b.mark(ctx, announcement); err != nil {
		return false, err
	}
	info, err := b.client.StatObject(ctx, b.name, b.key(sum.path()), minio.StatObjectOptions{})
	switch {
	case isMissing(err) || err == nil && !isOlder(info.LastModified, before):
	case err != nil:
		return false, err
	default:
		// If this fails, the request may still be under way, and so the announcement stays.
		if err := b.remove(ctx, b.key(sum.path())); err != nil {
			return false, err
		}
		deleted = true
	}
	return deleted, b.remove(ctx, announcement)
}

func (b *bucket) Walk(ctx context.Context, visit func(Sum, int64, time.Time) error) error {
	root := b.key("")
	if root != "" {
		root += "/"
	}
	return b.list(ctx, root, func(object minio.ObjectInfo) error {
		sum, ok := sumOfPath(strings.TrimPrefix(object.Key, root))
		if !ok {
			return nil
		}
		return visit(sum, object.Size, object.LastModified)
	})
}

func (b *bucket) DeleteLeftovers(ctx context.Context, before time.Time) error {
	return b.list(ctx, b.key(temporary)+"/", func(object minio.ObjectInfo) error {
		if !isOlder(object.LastModified, before) {
			return nil
		}
		if err := b.remove(ctx, object.Key); err != nil {
			return fmt.Errorf("delete leftover: %w", err)
		}
		return nil
	})
}

// list calls visit for each object whose key begins with prefix. The client asks for a
// thousand at a time.
func (b *bucket) list(ctx context.Context, prefix string, visit func(minio.ObjectInfo) error) error {
	for object := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if object.Err != nil {
			return fmt.Errorf("list blobs: %w", object.Err)
		}
		if err := visit(object); err != nil {
			return err
		}
	}
	// The client ends a list as if it were complete when ctx ends.
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	return nil
}

// isMissing reports whether an error of the client says that there is no such object.
func isMissing(err error) bool {
	return err != nil && minio.ToErrorResponse(err).Code == minio.NoSuchKey
}
