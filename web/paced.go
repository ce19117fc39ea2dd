package web

import (
	"io"
	"time"
)

// A form with files may take many minutes, but it must go on arriving: after a grace it has
// arrived at slowest bytes a second on the average, or its connection ends. Otherwise a sender
// of a byte now and then would hold a file open, and one of the places of those that arrive, for
// all that time. The server's own limit is on whole requests, and is for shorter ones.
const (
	slowestGrace = 30 * time.Second
	slowest      = 1000
)

// paced is a body that must arrive at least as fast as slowest, until a time at the latest.
type paced struct {
	io.ReadCloser
	until time.Time
	grace time.Duration
	// n is how many bytes have come, and took how long the body was waited for.
	n    int64
	took time.Duration
	// deadline sets the time by which the next bytes must come.
	deadline func(time.Time) error
}

func (p *paced) Read(b []byte) (int, error) {
	began := time.Now()
	by := began.Add(p.grace + time.Duration(p.n)*time.Second/slowest - p.took)
	if by.After(p.until) {
		by = p.until
	}
	if err := p.deadline(by); err != nil {
		return 0, err
	}
	n, err := p.ReadCloser.Read(b)
	p.n += int64(n)
	p.took += time.Since(began)
	return n, err
}
