package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// temporary is the folder below a store's root for all that is no blob (yet). It cannot be
// the name of a folder of blobs.
const temporary = "tmp"

// directory is a Store in a directory:
//
//	ab/cd/abcd…   the blobs
//	tmp/put-…     what is being put
//
// Folders of blobs are never removed: another process may be about to rename into them.
type directory struct {
	root string
	// sync makes an open file or folder outlive a crash. Only tests change it.
	sync func(*os.File) error
}

// openDirectory makes the directory, for its owner alone, if it does not exist. A missing parent is made for everybody,
// whatever the umask: PostgreSQL, which runs as another user, may keep its data there too.
func openDirectory(root string) (*directory, error) {
	d := &directory{root: root, sync: (*os.File).Sync}
	parent := filepath.Dir(root)
	_, err := os.Stat(parent)
	if errors.Is(err, os.ErrNotExist) {
		err = errors.Join(os.MkdirAll(parent, 0o755), os.Chmod(parent, 0o755))
	}
	if err == nil {
		err = os.MkdirAll(d.path(temporary), 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("directory of blobs: %w", err)
	}
	if err := d.Probe(context.Background()); err != nil {
		return nil, err
	}
	return d, nil
}

// Probe makes no folder: one that vanished is an error, as it is for Put. It writes a block,
// because a full disk still takes an empty file.
func (d *directory) Probe(context.Context) error {
	probe, err := os.CreateTemp(d.path(temporary), "probe-*")
	if err != nil {
		return fmt.Errorf("directory of blobs: %w", err)
	}
	_, err = probe.Write(make([]byte, 4096))
	if err := errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return fmt.Errorf("directory of blobs: %w", err)
	}
	return nil
}

func (d *directory) path(below string) string {
	return filepath.Join(d.root, filepath.FromSlash(below))
}

func (d *directory) Put(ctx context.Context, content io.Reader, limit int64) (Sum, int64, error) {
	sum, size, err := d.put(ctx, content, limit)
	if err != nil {
		return Sum{}, 0, fmt.Errorf("put blob: %w", err)
	}
	return sum, size, nil
}

func (d *directory) put(ctx context.Context, content io.Reader, limit int64) (Sum, int64, error) {
	file, err := os.CreateTemp(d.path(temporary), "put-*")
	if err != nil {
		return Sum{}, 0, err
	}
	sum, size, err := d.write(ctx, file, content, limit)
	if err = errors.Join(err, file.Close()); err == nil {
		err = d.place(file.Name(), sum)
	}
	if err != nil {
		return Sum{}, 0, errors.Join(err, remove(file.Name()))
	}
	return sum, size, nil
}

func (d *directory) write(ctx context.Context, file *os.File, content io.Reader, limit int64) (Sum, int64, error) {
	sum, size, err := spool(ctx, file, content, limit)
	if err != nil {
		return Sum{}, 0, err
	}
	// The last write was long ago if the client was slow to end.
	now := time.Now()
	return sum, size, errors.Join(os.Chtimes(file.Name(), now, now), d.sync(file))
}

// place gives a written file the name of its blob. A blob that is there already is
// replaced, which also makes it new and whole.
func (d *directory) place(file string, sum Sum) error {
	at := d.path(sum.path())
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	unlock, err := lock(filepath.Dir(at), syscall.LOCK_SH)
	if err != nil {
		return err
	}
	if err := errors.Join(os.Rename(file, at), unlock()); err != nil {
		return err
	}
	// If another Put made the folders, it may not have synced them yet.
	return errors.Join(d.syncFolder(filepath.Dir(at)), d.syncFolder(filepath.Dir(filepath.Dir(at))), d.syncFolder(d.root))
}

func (d *directory) syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.sync(folder), folder.Close())
}

// lock locks a folder for Put (syscall.LOCK_SH) or for DeleteOlder (syscall.LOCK_EX).
func lock(folder string, how int) (unlock func() error, err error) {
	file, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", folder, err), file.Close())
	}
	return file.Close, nil
}

func (d *directory) Open(_ context.Context, sum Sum, size int64) (io.ReadSeekCloser, error) {
	file, err := os.Open(d.path(sum.path()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open blob %s: %w", sum, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open blob: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() != size {
		err = fmt.Errorf("%w: it has %d bytes instead of %d", ErrDamaged, info.Size(), size)
	}
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", sum, errors.Join(err, file.Close()))
	}
	return file, nil
}

func (d *directory) Delete(_ context.Context, sum Sum) error {
	at := d.path(sum.path())
	err := os.Remove(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = d.syncFolder(filepath.Dir(at))
	}
	if err != nil {
		return fmt.Errorf("delete blob: %w", err)
	}
	return nil
}

// DeleteOlder does not sync the folder. If a crash brings the blob back, the next sweep
// finds it.
func (d *directory) DeleteOlder(_ context.Context, sum Sum, before time.Time) (bool, error) {
	at := d.path(sum.path())
	unlock, err := lock(filepath.Dir(at), syscall.LOCK_EX)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("delete blob: %w", err)
	}
	deleted, err := removeOlder(at, before)
	if err = errors.Join(err, unlock()); err != nil {
		return deleted, fmt.Errorf("delete blob: %w", err)
	}
	return deleted, nil
}

func (d *directory) Walk(ctx context.Context, visit func(Sum, int64, time.Time) error) error {
	return d.walk(ctx, ".", func(below string, info fs.FileInfo) error {
		sum, ok := sumOfPath(below)
		if !ok {
			return nil
		}
		return visit(sum, info.Size(), info.ModTime())
	})
}

func (d *directory) DeleteLeftovers(ctx context.Context, before time.Time) error {
	return d.walk(ctx, temporary, func(below string, _ fs.FileInfo) error {
		if _, err := removeOlder(d.path(below), before); err != nil {
			return fmt.Errorf("delete leftover: %w", err)
		}
		return nil
	})
}

// walk calls visit for each regular file below a folder of the root. It reads one folder
// at a time into memory; a folder of blobs has one 65,536th of them.
func (d *directory) walk(ctx context.Context, from string, visit func(below string, info fs.FileInfo) error) error {
	return fs.WalkDir(os.DirFS(d.root), from, func(below string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return fmt.Errorf("walk blobs: %w", err)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) { // it was deleted meanwhile
			return nil
		}
		if err != nil {
			return fmt.Errorf("walk blobs: %w", err)
		}
		return visit(below, info)
	})
}

// removeOlder removes a file if it is there and older than a time.
func removeOlder(name string, before time.Time) (removed bool, err error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !isOlder(info.ModTime(), before) {
		return false, nil
	}
	if err == nil {
		err = os.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// remove removes a file, if it is there.
func remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
