// Package doctor looks at a site from the machine that runs it, whether or not it is served, and says
// what is wrong and what to do.
//
// It changes nothing but the probe of the store of uploads, which writes a little and removes it. Its
// sessions are read-only. A part that is away is one row of the report: the others are looked at all the
// same. Nothing in a report is secret.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
)

// Status is how a check came out.
type Status string

// The statuses of a check.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	// Fail: something does not work, or data is in danger.
	Fail Status = "fail"
)

// Check is one row of a report.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	// Do is what to do about it; empty: nothing.
	Do string `json:"do,omitempty"`
}

// Table is a table of a store with its indexes.
type Table struct {
	Store string `json:"store"`
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Report is what an examination found.
type Report struct {
	Checks []Check `json:"checks"`
	// Tables are the largest of each store.
	Tables []Table       `json:"tables"`
	Files  []files.Usage `json:"files"`
}

// Count returns how many checks came out so.
func (r *Report) Count(s Status) (n int) {
	for _, c := range r.Checks {
		if c.Status == s {
			n++
		}
	}
	return n
}

func (r *Report) add(name string, status Status, found, do string) {
	r.Checks = append(r.Checks, Check{name, status, found, do})
}

// addError is for what could not be looked at; mostly it is the database that does not answer.
func (r *Report) addError(name string, err error, do string) {
	r.add(name, Fail, err.Error(), cmp.Or(do, "look into the log of PostgreSQL"))
}

// Store says how to reach one of the two databases.
type Store struct {
	// Config is nil if Err says why it cannot be reached.
	Config *pgxpool.Config
	Err    error
	// Opens is how many connections one process of this configuration may open to it.
	Opens int
	// Directory is where its server keeps its data; empty: the server is asked.
	Directory string
}

// Config says what to examine.
type Config struct {
	Primary, Secondary Store
	// Blobs is the store of uploads, BlobsErr why there is none; BlobsAt names it, and BlobsDir is its
	// directory, empty for a bucket.
	Blobs             blobs.Store
	BlobsErr          error
	BlobsAt, BlobsDir string
	// URL is the site's public address; empty: none is set. Listen is where a node of this machine
	// listens.
	URL, Listen string
	// Patience bounds each question, but for those that read whole tables and all files.
	Patience time.Duration
}

// Examine looks at everything. The end of ctx ends it early; what was not reached fails.
func Examine(ctx context.Context, c Config) Report {
	var r Report
	e := examination{Config: c, Report: &r}
	primary := e.open(ctx, "primary", c.Primary)
	secondary := e.open(ctx, "secondary", c.Secondary)
	for _, db := range []*database{primary, secondary} {
		if db != nil {
			defer db.pool.Close()
			e.database(ctx, db, primary, secondary)
		}
	}
	nodes := -1 // not known
	if primary != nil && primary.whole {
		e.freshness(ctx, primary)
		nodes = e.jobs(ctx, primary)
	}
	e.connections(primary, secondary, nodes)
	e.files(ctx, primary)
	e.site(ctx, nodes)
	for _, db := range []*database{primary, secondary} {
		if db != nil {
			e.tables(ctx, db)
		}
	}
	return r
}

// examination is one run of Examine.
type examination struct {
	Config
	*Report
}

// database is a store that answers.
type database struct {
	name    string
	pool    *pgxpool.Pool
	about   settings
	opens   int
	ownData string // Store.Directory
	// whole: its schema is the one of this binary.
	whole bool
}

// at is where the database is, for comparing and for people.
func (d *database) at() string {
	c := d.pool.Config().ConnConfig
	return fmt.Sprintf("%s:%d", c.Host, c.Port)
}

// open connects to a store; nil if it does not answer.
func (e examination) open(ctx context.Context, name string, s Store) *database {
	const do = "start the database, or mend the address (%s); until then pages and forms are answered 503"
	setting := map[string]string{"primary": "DATABASE_URL", "secondary": "RIVERS_DATABASE_URL"}[name]
	row := name + " store"
	if s.Err != nil {
		e.addError(row, s.Err, "make it reachable; until then pages and forms are answered 503")
		return nil
	}
	cfg := s.Config.Copy()
	cfg.MaxConns, cfg.MinConns = 2, 0
	cfg.ConnConfig.ConnectTimeout = e.Patience
	cfg.ConnConfig.RuntimeParams["application_name"] = "riverrun doctor"
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SET default_transaction_read_only = on`)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		e.addError(row, err, fmt.Sprintf(do, setting))
		return nil
	}
	db := &database{name: name, pool: pool, opens: s.Opens, ownData: s.Directory}
	asking, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	if db.about, err = readSettings(asking, pool); err != nil {
		pool.Close()
		e.addError(row, err, fmt.Sprintf(do, setting))
		return nil
	}
	return db
}
