package outage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/puddle/v2"

	"riverrun/migrations/testdb"
	"riverrun/timelines/outage"
)

func TestMain(m *testing.M) { testdb.Main(m) }

type judged struct{ is, rolledBack, missing bool }

func judge(err error) judged {
	return judged{outage.Is(err), outage.RolledBack(err), outage.Missing(err)}
}

func TestCodes(t *testing.T) {
	for code, want := range map[string]judged{
		"08000": {is: true, rolledBack: true}, "08001": {is: true, rolledBack: true}, "08003": {is: true, rolledBack: true},
		"08004": {is: true, rolledBack: true}, "08006": {is: true, rolledBack: true}, "08P01": {is: true, rolledBack: true},
		"40001": {is: true, rolledBack: true}, "40P01": {is: true, rolledBack: true},
		"25006": {is: true, rolledBack: true},
		"53000": {is: true, rolledBack: true}, "53100": {is: true, rolledBack: true}, "53200": {is: true, rolledBack: true},
		"53300": {is: true, rolledBack: true}, "53400": {is: true, rolledBack: true},
		"57000": {is: true, rolledBack: true}, "57014": {is: true, rolledBack: true}, "57P01": {is: true, rolledBack: true},
		"57P02": {is: true, rolledBack: true}, "57P03": {is: true, rolledBack: true}, "57P04": {is: true, rolledBack: true},
		"58000": {is: true, rolledBack: true}, "58030": {is: true, rolledBack: true}, "58P01": {is: true, rolledBack: true},
		"3D000": {true, true, true}, "3F000": {true, true, true}, "42P01": {true, true, true},
		"22001": {}, "22P02": {}, "23505": {}, "25001": {}, "25P02": {}, "42501": {},
		"42601": {}, "42703": {}, "55P03": {}, "XX000": {}, "": {}, "53": {},
	} {
		if got := judge(fmt.Errorf("write: %w", &pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code})); got != want {
			t.Errorf("ERROR %s: got %+v, want %+v", code, got, want)
		}
		// If the server ended the session, it is not known whether the commit arrived.
		for _, severity := range []string{"FATAL", "PANIC"} {
			want := judged{is: true, missing: want.missing}
			if got := judge(&pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: severity, Code: code}); got != want {
				t.Errorf("%s %s: got %+v, want %+v", severity, code, got, want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		err error
		is  bool
	}{
		{nil, false},
		{errors.New("anything"), false},
		{context.Canceled, false},
		{context.DeadlineExceeded, false},
		{syscall.ENOENT, false},
		{io.EOF, true},
		{io.ErrUnexpectedEOF, true},
		{net.ErrClosed, true},
		{&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, true},
		{&net.OpError{Op: "dial", Net: "unix", Err: syscall.ECONNREFUSED}, true},
		{pgconn.ErrConnClosed, true},
		{puddle.ErrClosedPool, true},
	} {
		if tc.err != nil {
			tc.err = fmt.Errorf("read: %w", tc.err)
		}
		if got, want := judge(tc.err), (judged{is: tc.is}); got != want {
			t.Errorf("%v: got %+v, want %+v", tc.err, got, want)
		}
	}
}

// The driver's errors in real outages.
func TestRealErrors(t *testing.T) {
	ctx := t.Context()
	db := testdb.New(t)
	fails := func(what string, err error, want judged) {
		t.Helper()
		if err == nil {
			t.Fatalf("%s: no error", what)
		}
		if got := judge(err); got != want {
			t.Errorf("%s: %v: got %+v, want %+v", what, err, got, want)
		}
	}
	// A session that is ended in the middle of a transaction, and what is asked after that.
	conn, err := db.Primary.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Primary.Exec(ctx, `SELECT pg_terminate_backend($1, 10000)`, conn.Conn().PgConn().PID()); err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(ctx, `SELECT 1`)
	fails("a terminated session", err, judged{is: true})
	_, err = tx.Exec(ctx, `SELECT 1`)
	fails("its closed connection", err, judged{is: true})
	conn.Release()

	_, err = db.Primary.Exec(ctx, `SELECT FROM no_such_table`)
	fails("a missing table", err, judged{true, true, true})
	_, err = db.Primary.Exec(ctx, `BEGIN READ ONLY; DELETE FROM posts`)
	fails("a read-only server", err, judged{is: true, rolledBack: true})
	_, err = db.Primary.Exec(ctx, `SELECT 1/0`)
	fails("another's fault", err, judged{})

	proxy := testdb.NewProxy(t, db.Primary)
	cut := proxy.Pool(1)
	if err := cut.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	proxy.Cut()
	_, err = cut.Exec(ctx, `SELECT 1`)
	fails("a cut connection", err, judged{is: true})

	elsewhere := db.Primary.Config()
	elsewhere.ConnConfig.Database = "no_such_database"
	lost, err := pgxpool.NewWithConfig(ctx, elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	fails("no database", lost.Ping(ctx), judged{is: true, missing: true})
	lost.Close()
	fails("a closed pool", lost.Ping(ctx), judged{is: true})
	nowhere := db.Primary.Config()
	nowhere.ConnConfig.Host = "/nowhere"
	_, err = pgconn.ConnectConfig(ctx, &nowhere.ConnConfig.Config)
	fails("nobody there", err, judged{is: true})
}
