package dump

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/localpg"
)

// Write dumps the database that conn is connected to, as it is in the snapshot of the transaction
// that is open on conn, which must be repeatable read.
func Write(ctx context.Context, programs localpg.Programs, conn *pgx.Conn, to io.Writer) error {
	var snapshot string
	var others []string
	const query = `SELECT pg_export_snapshot(), ARRAY(
		SELECT nspname::text FROM pg_namespace WHERE nspname NOT IN ('public', 'queue', 'information_schema') AND nspname NOT LIKE 'pg\_%')`
	if err := conn.QueryRow(ctx, query).Scan(&snapshot, &others); err != nil {
		return fmt.Errorf("pg_dump: %w", err)
	}
	args := []string{
		"-Fc", "--no-password", "--snapshot=" + snapshot,
		// No others: plpgsql is in every database and is left out, as all is that comes with PostgreSQL.
		"--extension=plpgsql",
	}
	for _, schema := range others {
		args = append(args, `--exclude-schema="`+strings.ReplaceAll(schema, `"`, `""`)+`"`)
	}
	said := &bytes.Buffer{}
	cmd := exec.CommandContext(ctx, filepath.Join(programs.Dir, "pg_dump"), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environ(conn.Config()), to, said
	if err := cmd.Run(); err != nil {
		return failed("pg_dump", said, err)
	}
	return nil
}

// failed is the error of a program, with the end of what it said.
func failed(program string, said *bytes.Buffer, err error) error {
	const most = 2000
	text := strings.TrimSpace(said.String())
	if text == "" { // as if it was killed
		return fmt.Errorf("%s: %w", program, err)
	}
	return fmt.Errorf("%s: %s: %w", program, text[max(0, len(text)-most):], err)
}
