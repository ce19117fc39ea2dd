package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"riverrun/jobs"
	"riverrun/jobs/fetch"
	"riverrun/rivers"
	"riverrun/rivers/lines"
	"riverrun/rivers/strategies"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/blobs"
	"riverrun/timelines/bulk"
	"riverrun/timelines/changes"
	"riverrun/timelines/exports"
	"riverrun/timelines/hooks"
	"riverrun/timelines/leaving"
	"riverrun/timelines/sources"
)

// node is what every command works with: both stores, rivers and tiers. Its jobs are worked by
// any node that works jobs.
type node struct {
	config  *config
	log     *slog.Logger
	repeats repeats // the log's handler
	metrics *prometheus.Registry
	counts  *prometheus.Registry // metrics that ask a database whenever they are collected

	stores    *stores
	announcer *jobs.Announcer
	timelines *timelines.Store
	rivers    *rivers.Store
	// home makes home pages; nil: rivers do.
	home  *strategies.Homes
	tiers *tiers.Tiers
}

// withNode opens a node, calls do, and closes the node in any case.
func withNode(ctx context.Context, e *env, c *config, as ownership, do func(context.Context, *node) error) error {
	n, err := openNode(ctx, e, c, as)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, n), n.close(context.WithoutCancel(ctx)))
}

func openNode(ctx context.Context, e *env, c *config, as ownership) (_ *node, err error) {
	repeats := newRepeats(c.logger(e.stderr).Handler(), repeatsEvery)
	n := &node{config: c, log: slog.New(repeats), repeats: repeats}
	n.stores, err = openStores(ctx, c, n.log, as)
	if err != nil {
		return nil, errors.Join(err, repeats.close())
	}
	// Last opened, first closed; only what was opened.
	closers := []func(context.Context) error{
		func(context.Context) error { return repeats.close() },
		func(ctx context.Context) error { return n.stores.close(ctx, c) },
	}
	defer func() {
		for i := len(closers) - 1; err != nil && i >= 0; i-- {
			err = errors.Join(err, closers[i](context.WithoutCancel(ctx)))
		}
	}()
	if err := n.stores.migrate(ctx); err != nil {
		return nil, n.stores.advise(c, err)
	}
	if n.announcer, err = jobs.NewAnnouncer(n.log); err != nil {
		return nil, err
	}
	figures := newFigures()
	options := timelines.DefaultOptions()
	options.LocalBumpMaxAge, options.SessionAge = c.localBumpMaxAge, c.sessionAge
	options.BestOf, options.MostFaved = c.bestOf, c.mostFaved
	options.FirstDay, options.FirstDayPosts = c.firstDay, c.firstDayPosts
	options.Previews = c.previews
	options.SignUp, options.Private = c.signUp, c.private
	options.PostFiles, options.CommentFiles = c.postFiles, c.commentFiles
	n.timelines = timelines.Open(n.stores.primary, n.announcer, options)
	n.rivers = rivers.Open(n.stores.secondary, n.timelines, n.log, rivers.Options{
		GraceHome: c.graceHome,
		Grace:     c.grace,
		Depth:     c.depth,
		Metrics:   figures,
		Restore:   func(ctx context.Context) error { return n.stores.restore(ctx, n.log) },
	})
	n.home = strategies.NewHomes(c.home, n.feeds())
	n.tiers = tiers.New(tiers.Config{
		Timelines: n.timelines,
		Rivers:    n.rivers,
		Home:      n.home,
		Secondary: n.stores.secondary,
		Log:       n.log,
		Metrics:   figures,
	})
	if n.metrics, err = figures.registry(); err != nil {
		return nil, err
	}
	n.counts = prometheus.NewRegistry()
	if err := n.counts.Register(newCensus(n.rivers, n.log)); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	if err := n.rivers.Start(ctx); err != nil {
		return nil, fmt.Errorf("start rivers: %w", err)
	}
	closers = append(closers, n.rivers.Stop)
	if err := n.tiers.Start(ctx); err != nil {
		return nil, fmt.Errorf("start tiers: %w", err)
	}
	return n, nil
}

// close stops in the reverse order of openNode, so that nothing runs any more that needs the
// next to be closed.
func (n *node) close(ctx context.Context) error {
	stopping, cancel := context.WithTimeout(ctx, n.config.stopTimeout)
	defer cancel()
	return errors.Join(
		n.tiers.Stop(stopping),
		n.rivers.Stop(stopping),
		n.stores.close(ctx, n.config),
		n.repeats.close(),
	)
}

// feeds are the stores, as strategies of home feeds use them.
func (n *node) feeds() strategies.Stores {
	return strategies.Stores{Primary: n.timelines, Rivers: n.rivers, Secondary: n.stores.secondary}
}

// files opens the store of uploads, which not all commands need.
func (n *node) files(ctx context.Context) (blobs.Store, error) { return n.config.files(ctx) }

func (c *config) files(ctx context.Context) (blobs.Store, error) {
	store, err := c.blobs.Open(ctx, filepath.Join(c.data, "files"))
	if err != nil {
		return nil, fmt.Errorf("the store of uploaded files (RIVERRUN_FILES): %w", err)
	}
	return store, nil
}

// sources returns the store of sources within the operator's limits.
func (n *node) sources() *sources.Store {
	c := n.config
	return sources.Open(n.timelines).Within(sources.Limits{
		Sources: c.sources, FileBytes: int64(c.sourceSize) * 1_000_000, Items: c.sourceItems, Soonest: c.sourceEvery,
	})
}

// jobs returns this process's workers, not yet started. From here on home feeds follow changes by
// this process's strategy.
func (n *node) jobs(ctx context.Context, files blobs.Store) (*jobs.Jobs, error) {
	if err := strategies.Select(ctx, n.stores.secondary, n.config.home); err != nil {
		return nil, err
	}
	client, err := fetch.New(fetch.Config{Site: n.config.url, Allow: n.config.fetchAllow, Proxy: n.config.fetchProxy})
	if err != nil {
		return nil, err
	}
	callback := ""
	if n.config.ownHost { // where it listens may not be where others reach it
		callback = n.config.url
	}
	log := changes.Open(n.timelines, n.config.changesDays)
	return jobs.New(jobs.Config{
		Callback:        callback,
		Pool:            n.stores.primary,
		Announcer:       n.announcer,
		Tiers:           n.tiers,
		Rivers:          n.rivers,
		Timelines:       n.timelines.Maintenance,
		Staff:           admin.Open(n.timelines),
		Changes:         log,
		NATS:            n.config.nats,
		Hooks:           hooks.Open(n.timelines),
		Lines:           lines.Open(n.rivers, log, strings.TrimSuffix(n.config.url, "/")),
		Exports:         exports.Open(n.timelines),
		Bulk:            bulk.Open(n.timelines),
		Leaving:         leaving.Open(n.timelines),
		HomeFeeds:       n.home,
		Files:           n.timelines.Files,
		Blobs:           files,
		Links:           n.timelines.Links,
		Fetch:           client,
		Pushes:          n.timelines.Pushes,
		Sources:         n.sources(),
		Site:            n.config.url,
		Log:             n.log,
		Metrics:         n.metrics,
		Counts:          n.counts,
		NowWorkers:      n.config.workers,
		RebuildWorkers:  (n.config.workers + 1) / 2,
		LaterWorkers:    (n.config.workers + 1) / 2,
		ExpireEvery:     n.config.expireEvery,
		SoftStopTimeout: n.config.stopTimeout / 2,
	})
}
