package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"riverrun/jobs"
	"riverrun/migrations"
	"riverrun/migrations/dump"
	"riverrun/migrations/localpg"
	"riverrun/timelines/backup"
	"riverrun/timelines/blobs"
)

// runRestore brings back what runBackup wrote.
func runRestore(ctx context.Context, e *env, args []string) (err error) {
	r := &restore{env: e}
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.BoolVar(&r.over, "over", false, "replace what the site holds now")
		fs.BoolVar(&r.overAnother, "over-another", false, "replace whatever the database holds, another site too")
	})
	if err != nil {
		return err
	}
	switch {
	case len(rest) == 0:
		return usagef("restore: say what: FILE, or - for standard input")
	case len(rest) > 1:
		return usagef("restore: %q is one too many: flags go before FILE", rest[1])
	}
	from := e.stdin
	if rest[0] != stream {
		file, err := os.Open(rest[0])
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		defer func() { _ = file.Close() }() // only read
		info, err := file.Stat()
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		if info.Mode().IsRegular() {
			r.bytes = info.Size()
			if err := r.verify(ctx, file); err != nil {
				return r.explain(ctx, err)
			}
		}
		from = file
	}
	return withStores(ctx, e, c, func(ctx context.Context, s *stores, store blobs.Store) error {
		r.stores, r.blobs, r.progress = s, store, newProgress(e.stderr)
		defer r.progress.clear()
		return r.explain(ctx, r.from(ctx, from))
	})
}

// restore is one run of the command.
type restore struct {
	*env
	over, overAnother bool
	stores            *stores
	blobs             blobs.Store
	progress          *progress
	bytes             int64 // of the file, 0 if nobody knows
}

// errChanged goes with an error after which the database is another one than before.
var errChanged = errors.New("the database was restored, but what comes after it failed: riverrun serve, or riverrun migrate, goes on with it")

func (r *restore) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errChanged):
		return fmt.Errorf("restore: %w", err)
	case ctx.Err() != nil:
		return errors.New("restore: interrupted; the database is as it was")
	}
	return fmt.Errorf("restore: %w; the database is as it was", err)
}

// verify reads the file to its end, before anything begins, and goes back to its beginning.
func (r *restore) verify(ctx context.Context, file *os.File) error {
	p := newProgress(r.stderr)
	defer p.clear()
	read := int64(0)
	manifest, _, err := backup.Verify(ctx, readFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := file.Read(b)
		read += int64(n)
		p.show("verifying: %d%%", percent(read, r.bytes))
		return n, err
	}))
	if err == nil {
		err = fits(manifest)
	}
	if err != nil {
		return err
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}

// fits returns an error if this riverrun cannot use what a backup holds.
func fits(m backup.Manifest) error {
	if err := (migrations.Taken{Names: m.Migrations}).Usable(); err != nil {
		return fmt.Errorf("what made the backup does not fit this riverrun: %w", err)
	}
	return nil
}

// from restores a backup. The files are stored while the transaction of the database is open, and
// it is committed last: when the rest of the backup was found whole, and no file is missing. If
// anything fails there are a few files more, which belong to nothing and are swept some hours later.
func (r *restore) from(ctx context.Context, from io.Reader) error {
	b, err := backup.NewReader(readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return from.Read(p)
	}))
	if err != nil {
		return err
	}
	programs, err := r.may(ctx, b.Manifest)
	if err != nil {
		return err
	}
	pool := r.stores.primary
	restoring, err := dump.Begin(ctx, programs, pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	err = restoring.Load(ctx, readFunc(func(p []byte) (int, error) {
		r.progress.show("database %d MB", b.Totals().Dump/1_000_000)
		return b.Read(p)
	}))
	if err == nil {
		err = b.Files(ctx, func(sum blobs.Sum, size int64, content io.Reader) error {
			r.progress.show("files %d, %d MB", b.Totals().Files, b.Totals().Bytes/1_000_000)
			_, _, err := r.blobs.Put(ctx, content, size)
			return err
		})
	}
	if err != nil {
		return r.cause(ctx, b, err, restoring.Rollback())
	}
	if err := restoring.Commit(); err != nil {
		return err
	}
	pool.Reset() // what its connections know of the tables is wrong now
	r.progress.clear()
	if err := migrations.Primary(ctx, pool, jobs.Migrate); err != nil {
		return fmt.Errorf("%w: %w", errChanged, err)
	}
	// Without it the first pages are planned for empty tables.
	if _, err := pool.Exec(ctx, `ANALYZE`); err != nil {
		return fmt.Errorf("%w: %w", errChanged, err)
	}
	fmt.Fprintf(r.stdout, "restored the state of %s: %s\n", b.Manifest.Made.Format(time.RFC3339), summary(b.Totals()))
	return nil
}

// cause returns why a restore failed, with the errors of reading and of psql. The whole file is
// looked at if nobody did so before: a changed dump has had psql or pg_restore say something odd.
func (r *restore) cause(ctx context.Context, b *backup.Reader, err, psql error) error {
	if errors.Is(err, backup.ErrDamaged) {
		return err
	}
	if r.bytes == 0 {
		damaged := b.Files(ctx, func(blobs.Sum, int64, io.Reader) error { return nil })
		if errors.Is(damaged, backup.ErrDamaged) {
			return damaged
		}
	}
	return errors.Join(psql, err) // if psql failed, pg_restore failed because of it
}

// usedFor is how long a restore waits for a process that uses the database: the locks of one that has just ended
// stand until PostgreSQL has noticed.
const usedFor = 3 * time.Second

// look returns what stands in the database, when nothing uses it or something has used it for usedFor.
func (r *restore) look(ctx context.Context) (dump.State, error) {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; {
		state, err := dump.Look(ctx, r.stores.primary)
		if err != nil || !state.Used || time.Since(began) >= usedFor {
			return state, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return state, ctx.Err()
		}
	}
}

// may returns the programs to restore with, or an error that says why the backup may not be
// restored and what to do.
func (r *restore) may(ctx context.Context, m backup.Manifest) (localpg.Programs, error) {
	var none localpg.Programs
	if err := fits(m); err != nil {
		return none, err
	}
	state, err := r.look(ctx)
	if err != nil {
		return none, err
	}
	if state.Used {
		return none, errors.New("riverrun runs with this database: stop every serve, work and other command first")
	}
	if !state.Empty && !r.overAnother {
		if err := r.mayReplace(ctx, m); err != nil {
			return none, err
		}
	}
	programs, err := localpg.FindClients(state.Server)
	if err != nil {
		return none, err
	}
	if programs.Major != state.Server || m.PostgreSQL > state.Server {
		return none, fmt.Errorf("the server is of version %d, the programs found in %s of version %d, and those that made the backup of version %d; "+
			"it takes a server that is not older than the backup, and pg_dump, pg_restore and psql of the server's version (Debian, Ubuntu: postgresql-client-%d)",
			state.Server, programs.Dir, programs.Major, m.PostgreSQL, max(state.Server, m.PostgreSQL))
	}
	return programs, nil
}

// mayReplace returns an error if the database holds another site, or the operator did not say
// that it may be replaced.
func (r *restore) mayReplace(ctx context.Context, m backup.Manifest) error {
	taken, err := migrations.ReadTaken(ctx, r.stores.primary)
	made := m.Made.Format(time.RFC3339)
	switch {
	case errors.Is(err, migrations.ErrNone):
		return errors.New("the database holds tables that are not riverrun's: restore into another one, or drop them with -over-another")
	case err != nil:
		return err
	case taken.Site != m.Site:
		return fmt.Errorf("the database holds another site than the backup: restore into another database, or replace that site by the state of %s with -over-another", made)
	case !r.over:
		return fmt.Errorf("the database holds what people wrote: replace it by the state of %s with -over", made)
	}
	return nil
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
