package dump

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/localpg"
)

// Restoring is a restore whose transaction is open. It must be ended by Commit or Rollback. It is
// for one goroutine.
type Restoring struct {
	programs localpg.Programs
	env      []string
	psql     *exec.Cmd
	said     *bytes.Buffer // by psql, to be read after its end
	to       *os.File      // the statements for psql
}

// clearing begins the transaction and drops all that stands in the schemas, but for extensions.
// Each object of a schema depends on it. One that is a part of another (i), as the sequence of an
// identity column, goes with that; the columns of a partition key, which are internal too, do not count. The names are collected before the first is dropped, since
// CASCADE drops others.
const clearing = `
SET client_min_messages = warning;
SET statement_timeout = 0;
SET lock_timeout = '10s';
BEGIN;
DO $clear$
DECLARE
	statement text;
BEGIN
	DROP SCHEMA IF EXISTS queue CASCADE;
	FOREACH statement IN ARRAY ARRAY(
		SELECT format('DROP %s IF EXISTS %s CASCADE', o.type, o.identity)
		FROM pg_depend d, pg_identify_object(d.classid, d.objid, 0) o
		WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = to_regnamespace('public') AND d.deptype = 'n'
			AND d.classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass, 'pg_ts_config'::regclass, 'pg_ts_dict'::regclass)
			AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = d.classid AND e.objid = d.objid AND e.objsubid = 0 AND e.deptype IN ('e', 'i')))
	LOOP
		EXECUTE statement;
	END LOOP;
	IF to_regnamespace('public') IS NULL THEN
		CREATE SCHEMA public;
	END IF;
END $clear$;
`

// Begin opens the transaction. Programs must be of the server's version: what a newer pg_restore
// writes may set what an older server does not know.
func Begin(ctx context.Context, programs localpg.Programs, cfg *pgx.ConnConfig) (*Restoring, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("psql: %w", err)
	}
	r := &Restoring{programs: programs, env: environ(cfg), said: &bytes.Buffer{}, to: to}
	r.psql = exec.CommandContext(ctx, filepath.Join(programs.Dir, "psql"), "--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--file=-")
	r.psql.Env, r.psql.Stdin, r.psql.Stderr = r.env, from, r.said
	err = r.psql.Start()
	if err := errors.Join(err, from.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("psql: %w", err), to.Close())
	}
	if _, err := io.WriteString(to, clearing); err != nil {
		return nil, errors.Join(fmt.Errorf("psql: %w", err), r.Rollback())
	}
	return r, nil
}

// Load creates what is in a dump. It may leave the end of the dump unread. An error of the dump's
// reader is returned as it is.
func (r *Restoring) Load(ctx context.Context, dump io.Reader) error {
	said, read := &bytes.Buffer{}, &reader{Reader: dump}
	cmd := exec.CommandContext(ctx, filepath.Join(r.programs.Dir, "pg_restore"), "--file=-", "--no-owner", "--no-privileges", "--exit-on-error")
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.env, read, r.to, said
	err := cmd.Run()
	if read.err != nil {
		return read.err // pg_restore says only that its input ended
	}
	if err != nil {
		return failed("pg_restore", said, err)
	}
	return nil
}

// Commit ends the transaction, and makes what was loaded the state of the database. If it returns
// an error, nothing was changed, unless the connection was lost in the very moment.
func (r *Restoring) Commit() error {
	_, err := io.WriteString(r.to, "COMMIT;\n")
	return r.end(err)
}

// Rollback ends the transaction: nothing was changed. It returns an error only if psql had one, which
// is the cause if Begin or Load failed.
func (r *Restoring) Rollback() error { return r.end(nil) }

func (r *Restoring) end(err error) error {
	err = errors.Join(err, r.to.Close()) // psql, and with it a transaction without COMMIT, ends
	if ended := r.psql.Wait(); ended != nil {
		return failed("psql", r.said, errors.Join(ended, err))
	}
	return err
}

// reader keeps the error of a reader.
type reader struct {
	io.Reader
	err error
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
