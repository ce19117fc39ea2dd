package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/term"

	"riverrun/migrations"
	"riverrun/migrations/dump"
	"riverrun/migrations/localpg"
	"riverrun/timelines/backup"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
)

// stream is the FILE that is standard input or output.
const stream = "-"

// runBackup writes the primary store and the files into one file, while the site runs.
func runBackup(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	switch {
	case len(rest) == 0:
		return usagef("backup: say where: FILE, or - for standard output")
	case len(rest) > 1:
		return usagef("backup: %q is one too many", rest[1])
	}
	said := e.stdout
	if rest[0] == stream {
		if out, ok := e.stdout.(*os.File); ok && term.IsTerminal(int(out.Fd())) {
			return usagef("backup: standard output is a terminal")
		}
		said = e.stderr
	}
	return withStores(ctx, e, c, func(ctx context.Context, s *stores, store blobs.Store) error {
		var totals backup.Totals
		err := writeTo(e, rest[0], func(w io.Writer) error {
			p := newProgress(e.stderr)
			defer p.clear()
			totals, err = s.backup(ctx, w, store, p)
			return err
		})
		if err != nil && ctx.Err() != nil {
			return errors.New("backup: interrupted; there is no backup")
		}
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		fmt.Fprintln(said, summary(totals))
		return nil
	})
}

// withStores opens what a backup consists of, calls do, and closes it in any case.
func withStores(ctx context.Context, e *env, c *config, do func(context.Context, *stores, blobs.Store) error) error {
	s, err := openPrimary(ctx, c, c.logger(e.stderr), guest)
	if err != nil {
		return err
	}
	store, err := c.files(ctx)
	if err == nil {
		err = do(ctx, s, store)
	}
	return errors.Join(err, s.close(context.WithoutCancel(ctx), c))
}

func summary(t backup.Totals) string {
	text := fmt.Sprintf("database %d bytes, files %d with %d bytes", t.Dump, t.Files, t.Bytes)
	if t.Spoilt > 0 {
		text += fmt.Sprintf("; %d of the files were damaged already: riverrun check names those that are missed after a restore", t.Spoilt)
	}
	return text
}

// writeTo has write make a file, which gets its name when it is whole.
func writeTo(e *env, name string, write func(io.Writer) error) (err error) {
	if name == stream {
		return write(e.stdout)
	}
	part := name + ".part"
	// One that an interrupted backup left may have another mode.
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	if err := write(file); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, name); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// backup writes a backup. One connection holds the blobs from before the snapshot of the dump to
// the end, so that no file goes that the dump refers to.
func (s *stores) backup(ctx context.Context, to io.Writer, store blobs.Store, p *progress) (backup.Totals, error) {
	state, err := dump.Look(ctx, s.primary)
	if err != nil {
		return backup.Totals{}, err
	}
	programs, err := localpg.FindClients(state.Server)
	if err != nil {
		return backup.Totals{}, err
	}
	conn, err := pgx.ConnectConfig(ctx, s.primary.Config().ConnConfig)
	if err != nil {
		return backup.Totals{}, fmt.Errorf("primary store: %w", err)
	}
	// The lock goes with the connection. If that was lost before, Ping has said so.
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := files.Hold(ctx, conn); err != nil {
		return backup.Totals{}, err
	}
	var w *backup.Writer
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(pgx.Tx) error {
		taken, err := migrations.ReadTaken(ctx, conn)
		if err != nil {
			return err
		}
		// A command with a wrong setting makes an empty site, which must not pass for the real one.
		var used bool
		if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM accounts)`).Scan(&used); err != nil {
			return fmt.Errorf("look for accounts: %w", err)
		}
		if !used {
			return errors.New("nobody has an account there: are RIVERRUN_DATA and DATABASE_URL those of the site?")
		}
		w, err = backup.NewWriter(to, backup.Manifest{Site: taken.Site, Migrations: taken.Names, PostgreSQL: programs.Major, Made: time.Now().UTC()})
		if err != nil {
			return err
		}
		return dump.Write(ctx, programs, conn, writeFunc(func(b []byte) (int, error) {
			p.show("database %d MB", w.Totals().Dump/1_000_000)
			return w.Write(b)
		}))
	})
	if err != nil {
		return backup.Totals{}, err
	}
	err = w.Files(ctx, store, func() { p.show("files %d, %d MB", w.Totals().Files, w.Totals().Bytes/1_000_000) })
	if err != nil {
		return backup.Totals{}, err
	}
	if err := conn.Ping(ctx); err != nil {
		return backup.Totals{}, fmt.Errorf("the connection was lost that kept files from being removed: %w", err)
	}
	return w.Totals(), w.Close()
}

type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }
