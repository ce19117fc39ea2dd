package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations"
	"riverrun/timelines/kinds"
	"riverrun/timelines/storage"
)

// settings are those of a server that matter to a site.
type settings struct {
	Version                           string
	Number                            int
	Fsync, FullPageWrites, Autovacuum bool
	MaxConnections, Reserved          int
	SharedBuffers                     int64
	Encoding                          string
	Age                               int64 // of the oldest transaction that is not frozen
	Standby                           bool
}

func readSettings(ctx context.Context, pool *pgxpool.Pool) (settings, error) {
	const query = `
		SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
			current_setting('fsync')::bool AS fsync, current_setting('full_page_writes')::bool AS full_page_writes,
			current_setting('autovacuum')::bool AS autovacuum, current_setting('max_connections')::int AS max_connections,
			current_setting('superuser_reserved_connections')::int AS reserved,
			pg_size_bytes(current_setting('shared_buffers')) AS shared_buffers, current_setting('server_encoding') AS encoding,
			(SELECT max(age(datfrozenxid))::bigint FROM pg_database) AS age, pg_is_in_recovery() AS standby`
	rows, err := pool.Query(ctx, query)
	if err != nil {
		return settings{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[settings])
}

const (
	leastVersion = 150000
	// leastBuffers is PostgreSQL's own default.
	leastBuffers = 128 << 20
	// Transactions are numbered up to 2,100 millions ahead of the oldest one that is not frozen. The
	// server itself begins to freeze at 200 millions.
	oldAge, dangerousAge = 1_000_000_000, 1_800_000_000
)

// database checks a store that answers.
func (e examination) database(ctx context.Context, db *database, primary, secondary *database) {
	s, c := db.about, db.pool.Config().ConnConfig
	found := fmt.Sprintf("PostgreSQL %s, database %s at %s", s.Version, c.Database, c.Host)
	switch {
	case s.Number < leastVersion:
		e.add(db.name+" store", Fail, found, "upgrade PostgreSQL to 15 or newer")
	case s.Standby:
		e.add(db.name+" store", Fail, found+", a standby that cannot be written", "point riverrun at the server that takes writes, or promote this one")
	default:
		e.add(db.name+" store", OK, found, "")
	}
	db.whole = e.schema(ctx, db)
	if db == primary || primary == nil || db.at() != primary.at() {
		for _, row := range s.checks(db == primary) {
			row.Name = db.name + ": " + row.Name
			e.Checks = append(e.Checks, row)
		}
		e.clock(ctx, db)
		e.diskOfServer(ctx, db)
	}
	encoding := Check{db.name + ": server_encoding", OK, s.Encoding, ""}
	if s.Encoding != "UTF8" {
		encoding.Status, encoding.Do = Fail, "make a database with encoding UTF8, and restore a dump into it: other encodings cannot hold what people write"
	}
	e.Checks = append(e.Checks, encoding)
}

// checks judges the settings; durable: what the store holds cannot be made again.
func (s settings) checks(durable bool) []Check {
	onOff := map[bool]string{true: "on", false: "off"}
	rows := []Check{
		{"fsync", OK, onOff[s.Fsync], ""},
		{"full_page_writes", OK, onOff[s.FullPageWrites], ""},
		{"autovacuum", OK, onOff[s.Autovacuum], ""},
		{"shared_buffers", OK, size(s.SharedBuffers), ""},
		{"wraparound", OK, fmt.Sprintf("%d million transactions since the oldest that is not frozen", s.Age/1_000_000), ""},
	}
	if durable && !s.Fsync {
		rows[0].Status, rows[0].Do = Fail, "set fsync = on: a crash of the machine may destroy the database"
	}
	if durable && !s.FullPageWrites {
		rows[1].Status, rows[1].Do = Warn, "set full_page_writes = on, unless the file system never tears a page"
	}
	if !s.Autovacuum {
		rows[2].Status, rows[2].Do = Warn, "set autovacuum = on: tables grow and queries become slow without it"
	}
	if s.SharedBuffers < leastBuffers {
		rows[3].Status, rows[3].Do = Warn, "give shared_buffers a quarter of the machine's memory"
	}
	switch {
	case s.Age >= dangerousAge:
		rows[4].Status, rows[4].Do = Fail, "run VACUUM FREEZE in the oldest database (pg_database.datfrozenxid) now: at 2,100 million the server refuses writes"
	case s.Age >= oldAge:
		rows[4].Status, rows[4].Do = Warn, "look for what holds vacuum up: old transactions, replication slots, prepared transactions"
	}
	return rows
}

// schema reports whether the store has the schema of this binary.
func (e examination) schema(ctx context.Context, db *database) bool {
	ctx, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	row := db.name + ": schema"
	version, newest, err := migrations.Stand(ctx, db.pool, db.name)
	found := fmt.Sprintf("version %d, this riverrun has %d", version, newest)
	switch {
	case errors.Is(err, migrations.ErrNewer):
		e.add(row, Fail, found, fmt.Sprintf("run the newer riverrun, or take the store back with its \"riverrun migrate -store %s -to %d\"", db.name, newest))
	case errors.Is(err, migrations.ErrEarlierBuild):
		e.addError(row, err, "begin with an empty database; \"riverrun serve\" says how")
	case err != nil:
		e.addError(row, err, "")
	case version == 0:
		e.add(row, Fail, "none: the store was never migrated", "run \"riverrun migrate\", or start riverrun")
	case version < newest:
		e.add(row, Fail, found, "stop all nodes of the older version and run \"riverrun migrate\", or start this one")
	default:
		e.add(row, OK, fmt.Sprintf("version %d", version), "")
		return true
	}
	return false
}

// connections compares what processes may open with what the servers allow.
func (e examination) connections(primary, secondary *database, nodes int) {
	of := func(name string, db *database, opens int) {
		free := db.about.MaxConnections - db.about.Reserved
		row := Check{name + ": max_connections", OK, fmt.Sprintf("%d, %d without those for superusers; a process may open %d", db.about.MaxConnections, free, opens), ""}
		switch {
		case opens > free:
			row.Status, row.Do = Fail, fmt.Sprintf("set max_connections to %d or more, or RIVERRUN_CONNECTIONS and RIVERRUN_WORKERS lower", opens+db.about.Reserved)
		case nodes > 1 && nodes*opens > free:
			row.Status, row.Do = Warn, fmt.Sprintf("%d nodes may open %d: set max_connections to %d", nodes, nodes*opens, nodes*opens+db.about.Reserved)
		}
		e.Checks = append(e.Checks, row)
	}
	switch {
	case primary != nil && secondary != nil && primary.at() == secondary.at():
		of("both stores", primary, primary.opens+secondary.opens)
	default:
		for _, db := range []*database{primary, secondary} {
			if db != nil {
				of(db.name, db, db.opens)
			}
		}
	}
}

const (
	clockWarn = 2 * time.Second
	clockFail = time.Minute
)

// clock compares the clock of the server with this machine's.
func (e examination) clock(ctx context.Context, db *database) {
	ctx, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	row := db.name + ": clock"
	var apart, took time.Duration
	for n := range 3 { // the quickest answer knows best
		var at time.Time
		began := time.Now()
		if err := db.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at); err != nil {
			e.addError(row, err, "")
			return
		}
		if t := time.Since(began); n == 0 || t < took {
			apart, took = at.Sub(began.Add(t/2)), t
		}
	}
	e.Checks = append(e.Checks, clockCheck(row, apart))
}

func clockCheck(name string, apart time.Duration) Check {
	row := Check{name, OK, fmt.Sprintf("%v apart from this machine's", apart.Abs().Round(time.Millisecond)), ""}
	const do = "let NTP keep the clocks of all machines"
	switch {
	case apart.Abs() >= clockFail:
		row.Status, row.Do = Fail, do
	case apart.Abs() >= clockWarn:
		row.Status, row.Do = Warn, do
	}
	return row
}

// freshness looks for posts of the future. A new post gets its place from the primary server's clock,
// and a bump the place after the post's former one if that is later. So, after a clock was put back, new
// posts stand below older ones until it has caught up.
//
// The newest posts are found by their key, and what stands on top of the aggregate timelines by the
// index of pages.
func (e examination) freshness(ctx context.Context, db *database) {
	ctx, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	const query = `
		SELECT coalesce(max(fresh_at) / 1000000.0 - extract(epoch FROM clock_timestamp()), -1)::float8 FROM (
			(SELECT fresh_at FROM posts ORDER BY id DESC LIMIT 1000)
			UNION ALL
			SELECT e.fresh_at FROM timelines t,
				LATERAL (SELECT fresh_at FROM timeline_entries WHERE timeline_id = t.id ORDER BY fresh_at DESC, post_id DESC LIMIT 1) e
			WHERE t.kind = @everything AND t.their_id = 0
		) top`
	var ahead float64
	if err := db.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"everything": kinds.Everything}).Scan(&ahead); err != nil {
		e.addError("order of posts", err, "")
		return
	}
	e.Checks = append(e.Checks, freshCheck(time.Duration(ahead*float64(time.Second))))
}

func freshCheck(ahead time.Duration) Check {
	if ahead < time.Second {
		return Check{"order of posts", OK, "no post is of the future", ""}
	}
	return Check{
		"order of posts", Warn, fmt.Sprintf("a post stands %v in the future: the primary server's clock was put back, or was ahead", ahead.Round(time.Second)),
		"mend that clock; new posts stand below this one until then",
	}
}

// diskOfServer looks at the disk of a server on this machine.
func (e examination) diskOfServer(ctx context.Context, db *database) {
	row, dir := db.name+": disk", db.ownData
	if dir == "" {
		ctx, cancel := context.WithTimeout(ctx, e.Patience)
		defer cancel()
		host := db.pool.Config().ConnConfig.Host
		if ip := net.ParseIP(host); !filepath.IsAbs(host) && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			e.add(row, OK, "the server is on another machine: look there", "")
			return
		}
		if err := db.pool.QueryRow(ctx, `SELECT current_setting('data_directory', true)`).Scan(&dir); err != nil || dir == "" {
			e.add(row, OK, "not known: the role of riverrun may not ask where the server keeps its data", "")
			return
		}
	}
	e.disk(row, dir)
}

// tables adds the ten largest tables of a store.
func (e examination) tables(ctx context.Context, db *database) {
	ctx, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	found, err := storage.Tables(ctx, db.pool)
	if err != nil {
		e.addError(db.name+": tables", err, "")
		return
	}
	for _, t := range found[:min(len(found), 10)] {
		e.Tables = append(e.Tables, Table{db.name, t.Name, t.Bytes})
	}
}

// size writes bytes as people do.
func size(bytes int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	n, i := float64(bytes), 0
	for n >= 1024 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") + " " + units[i]
}

// exists reports whether there is such a file.
func exists(path string) bool { _, err := os.Stat(path); return err == nil }
