package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/cmd/riverrun/doctor"
	"riverrun/jobs"
	"riverrun/migrations/localpg"
	"riverrun/web"
)

// runDoctor looks at everything the site needs and says what is wrong. Unlike other commands it makes
// and migrates nothing.
func runDoctor(ctx context.Context, e *env, args []string) (err error) {
	asJSON := false
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print the report as JSON")
	})
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		return usagef("doctor: %q is one too many", rest[0])
	}
	cluster, primaryErr := c.lookAtLocal(ctx, e)
	if cluster != nil {
		defer func() {
			stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.stopTimeout)
			defer cancel()
			err = errors.Join(err, cluster.Stop(stopping))
		}()
	}
	report := doctor.Examine(ctx, c.patient(cluster, primaryErr))
	if asJSON {
		out := json.NewEncoder(e.stdout)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		err = out.Encode(report)
	} else {
		err = report.Print(e.stdout)
	}
	if n := report.Count(doctor.Fail); err == nil && n > 0 {
		err = fmt.Errorf("doctor: %d checks fail", n)
	}
	return err
}

// lookAtLocal brings up the local PostgreSQL, if the site uses one and nobody runs it. It makes none.
func (c *config) lookAtLocal(ctx context.Context, e *env) (*localpg.Cluster, error) {
	if c.primary != nil {
		return nil, nil
	}
	if err := c.oneTown(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(c.data, "postgresql", "PG_VERSION")); err != nil {
		return nil, fmt.Errorf("there is no local PostgreSQL in %s yet (%w): \"riverrun serve\" makes it, or set DATABASE_URL", c.data, err)
	}
	return localpg.Open(ctx, localpg.Config{Dir: c.data, Log: c.logger(e.stderr)})
}

// patient says what to examine. cluster is the local PostgreSQL, nil if there is none, perhaps for the
// reason noPrimary.
func (c *config) patient(cluster *localpg.Cluster, noPrimary error) doctor.Config {
	p := doctor.Config{
		Primary:   doctor.Store{Config: c.primary, Err: noPrimary, Opens: c.primaryConnections()},
		Secondary: doctor.Store{Config: c.secondary, Opens: c.connections + 1}, // and the bus
		BlobsAt:   c.blobs.String(),
		URL:       c.url,
		Listen:    c.listen,
		Patience:  c.databaseTimeout,
	}
	if cluster != nil {
		p.Primary.Config, p.Primary.Err = pgxpool.ParseConfig(cluster.URL("riverrun"))
		p.Primary.Directory = filepath.Join(c.data, "postgresql")
	}
	if p.Secondary.Config == nil {
		if p.Primary.Config == nil {
			p.Secondary.Err = errors.New("beside the primary store, which cannot be reached")
		} else {
			p.Secondary.Config = p.Primary.Config.Copy()
			p.Secondary.Config.ConnConfig.Database += "_rivers"
			p.Secondary.Directory = p.Primary.Directory
		}
	}
	own := filepath.Join(c.data, "files")
	p.Blobs, p.BlobsErr = c.blobs.At(own)
	if p.BlobsDir = c.blobs.Directory(own); p.BlobsDir != "" {
		p.BlobsAt = p.BlobsDir
	}
	return p
}

// primaryConnections is how many connections to the primary store a process may open: for pages, for
// what programs push, and for jobs.
func (c *config) primaryConnections() int {
	return c.connections + web.PushConnections + jobs.Connections(jobs.Config{
		NowWorkers: c.workers, RebuildWorkers: (c.workers + 1) / 2, LaterWorkers: (c.workers + 1) / 2,
	})
}
