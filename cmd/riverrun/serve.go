package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/jobs"
	"riverrun/timelines/blobs"
	"riverrun/web"
	"riverrun/web/adminpages"
)

func runServe(ctx context.Context, e *env, args []string) (err error) {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		return usagef("serve: %q is one too many", rest[0])
	}
	collectLess()
	defer giveBack(quietEvery)()
	// This comes first, so that an address in use is an error before anything starts.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.listen)
	if err != nil {
		return fmt.Errorf("RIVERRUN_LISTEN: %w", err)
	}
	defer listener.Close() // the HTTP server closes it too; for errors before there is one
	if c.url == "" {
		c.url = addressOf(listener)
	}
	ops, err := c.listenOps(ctx)
	if err != nil {
		return err
	}
	if ops != nil {
		defer ops.Close() // as above
	}
	stop, err := c.profile(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return withNode(ctx, e, c, host, func(ctx context.Context, n *node) error {
		return serve(ctx, e, n, listener, ops)
	})
}

// serve answers requests and works jobs until ctx ends, then stops: no new
// requests, sockets closed with "reconnect", requests under way answered, jobs
// finished or put back. The caller closes the stores.
func serve(ctx context.Context, e *env, n *node, listener, ops net.Listener) (err error) {
	files, err := n.files(ctx)
	if err != nil {
		return err
	}
	work, err := n.jobs(ctx, files)
	if err != nil {
		return err
	}
	health := n.health(work, files)
	site, err := web.New(web.Config{
		Timelines:       n.timelines,
		Rivers:          n.rivers,
		Home:            n.home,
		Tiers:           n.tiers,
		Blobs:           files,
		PushKeys:        jobs.NewPushKeys,
		FileSize:        int64(n.config.fileSize) * 1_000_000,
		Sources:         n.sources(),
		Log:             n.log,
		OwnHost:         n.config.ownHost,
		URL:             n.config.url,
		Listen:          n.config.listen,
		SessionAge:      n.config.sessionAge,
		DatabaseTimeout: n.config.databaseTimeout,
		Limits:          web.Limits{SignUps: n.config.signUps, SignIns: n.config.signIns, Writes: n.config.writes, Searches: n.config.searches},
		TrustedProxies:  n.config.trustedProxies,
		Ready:           health.Ready,
		MetricsPage:     health.Metrics,
		Metrics:         n.metrics,
		Figures:         n.metrics,
		Jobs:            jobsByKind,
		Waiting:         func(ctx context.Context) (int64, error) { return jobs.Waiting(ctx, n.stores.primary) },
		LimitsInForce:   n.config.limits,
		Backlog: func(ctx context.Context, than time.Duration) (bool, error) {
			return jobs.Behind(ctx, n.stores.primary, than)
		},
	})
	if err != nil {
		return errors.Join(err, work.Stop(context.WithoutCancel(ctx)))
	}
	if err := work.Start(ctx); err != nil {
		return errors.Join(err, work.Stop(context.WithoutCancel(ctx)))
	}
	if err := site.Start(ctx); err != nil {
		return errors.Join(err, work.Stop(context.WithoutCancel(ctx)))
	}
	server := &http.Server{
		Handler:           site.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		// These bound whole requests and answers; a hijacked socket is free of them.
		ReadTimeout:  time.Minute,
		WriteTimeout: 2 * time.Minute,
		IdleTimeout:  2 * time.Minute,
		ErrorLog:     slog.NewLogLogger(n.log.Handler(), slog.LevelDebug), // mostly of clients that went away
		// Requests outlive ctx: a stop lets them finish.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	stopOps := n.serveOps(ops, health)
	defer func() { err = errors.Join(err, stopOps()) }()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(e.stdout, "riverrun serves %s\n", n.config.url)
	if err := n.announceFirst(ctx, e); err != nil {
		n.log.WarnContext(ctx, "cannot make a link for the first administrator", "error", err)
	}
	n.log.InfoContext(ctx, "serving", "address", listener.Addr().String(), "url", n.config.url)

	select {
	case err = <-served: // it does not end by itself
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		n.log.InfoContext(ctx, "stopping", "why", context.Cause(ctx))
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.config.stopTimeout)
	defer cancel()
	// Shutdown closes the listener at once and then waits for requests, but not for sockets.
	shutdown := make(chan error, 1)
	go func() { shutdown <- server.Shutdown(stopping) }()
	err = errors.Join(err, site.Stop(stopping))
	if late := <-shutdown; late != nil {
		err = errors.Join(err, fmt.Errorf("requests were cut short: %w", late), server.Close())
	}
	return errors.Join(err, work.Stop(stopping))
}

// jobsByKind says how the jobs of all processes stand.
func jobsByKind(ctx context.Context, tx pgx.Tx) ([]adminpages.JobKind, error) {
	standing, err := jobs.StandByKind(ctx, tx)
	kinds := make([]adminpages.JobKind, len(standing))
	for i, k := range standing {
		kinds[i] = adminpages.JobKind(k)
	}
	return kinds, err
}

// ready reports whether everything a page and a change need answers.
func (n *node) ready(work *jobs.Jobs, files *blobs.Health) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := n.timelines.Ping(ctx); err != nil {
			return fmt.Errorf("primary store: %w", err)
		}
		if err := n.rivers.Ping(ctx); err != nil {
			return fmt.Errorf("secondary store: %w", err)
		}
		if err := work.Ready(ctx); err != nil {
			return err
		}
		return files.Check(ctx)
	}
}

// addressOf returns the listener's address for a browser on this machine.
func addressOf(listener net.Listener) string {
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return "http://" + listener.Addr().String()
	}
	name := address.IP.String()
	if address.IP.IsUnspecified() {
		name = "localhost"
	}
	return "http://" + net.JoinHostPort(name, fmt.Sprint(address.Port))
}
