package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"riverrun/cmd/riverbench/load"
	"riverrun/cmd/riverbench/report"
)

// A slow machine, or one that has other things to do, makes everything slower. So a row is held
// against a yardstick of the same run: for pages of every kind, a static page of always the
// same size, so that smaller pages of ours do not count as slower ones, and a statement that reads 25 rows of 3.7 kB; for writes, these and a small durable
// transaction.

// worse is how many times as large as the committed figure a figure may be.
const worse = 1.5

// judged are the rows that have a yardstick, by whether they write. A small town has too few people for
// cold.
var judged = map[string]bool{"home": false, "user": false, "single": false, "like": true, "comment": true, "post": true}

// yardstickPage is the size of the static page in bytes: that of a home page when the committed figures were
// measured.
const yardstickPage = 147_000

// inYardsticks is the name of the figure: the p50 of a repeat, divided by the yardstick that was
// measured just before and after.
const inYardsticks = "p50 in yardsticks"

// judge compares the figures of a run with those of the file, or writes them into the file.
func judge(o *options, run *report.Run, stdout io.Writer) error {
	ratios := map[string]float64{}
	for _, f := range run.Figures {
		if f.Name == inYardsticks {
			ratios[f.Row] = f.Median()
		}
	}
	committed, err := readBaseline(o.baseline)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && !o.update:
		return fmt.Errorf("%w; -update makes it", err)
	case err != nil && !missing:
		return err
	}
	if o.update {
		maps.Copy(committed, ratios) // rows that were not run stay
		return save(o.baseline, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(committed)
		})
	}
	fmt.Fprintln(stdout)
	var errs []error
	for _, row := range slices.Sorted(maps.Keys(ratios)) {
		was, ok := committed[row]
		if !ok {
			errs = append(errs, fmt.Errorf("%s has no figure for %s", o.baseline, row))
			continue
		}
		fmt.Fprintf(stdout, "%s: %.1f yardsticks, committed %.1f\n", row, ratios[row], was)
		if ratios[row] > was*worse {
			errs = append(errs, fmt.Errorf("%s takes %.1f yardsticks, more than half again the committed %.1f", row, ratios[row], was))
		}
	}
	return errors.Join(errs...)
}

// readBaseline returns the ratios of the file. They are never nil.
func readBaseline(file string) (map[string]float64, error) {
	ratios := map[string]float64{}
	text, err := os.ReadFile(file)
	if err != nil {
		return ratios, err
	}
	if err := json.Unmarshal(text, &ratios); err != nil {
		return ratios, fmt.Errorf("%s: %w", file, err)
	}
	return ratios, nil
}

// yardstick measures what a row is held against, for a share of the time of a measurement.
func (b *bench) yardstick(ctx context.Context, writes bool) (time.Duration, error) {
	static, err := staticPage(ctx, bytes.Repeat([]byte("<p>page</p>\n"), yardstickPage/12), b.during/3)
	if err != nil {
		return 0, err
	}
	y, err := b.site.Yardsticks(ctx, b.during/3)
	if writes {
		return static + y.Read + y.Write, err
	}
	return static + y.Read, err
}

// staticPage returns the median time of a page of these bytes, served by this process.
func staticPage(ctx context.Context, page []byte, during time.Duration) (_ time.Duration, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "page.html", time.Time{}, bytes.NewReader(page))
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		err = errors.Join(err, server.Close())
		if end := <-served; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, end)
		}
	}()
	s := load.NewSite("http://"+listener.Addr().String(), 1)
	defer s.Close()
	ran, err := load.Closed(ctx, one, during, func(ctx context.Context, _ int) error {
		_, err := s.Nobody().Get(ctx, "/")
		return err
	})
	return ran.Times.Quantile(0.5), err
}
