package webtest

import (
	"bytes"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
)

// watchedLog shows a test what its site warns of, and fails it if a secret is logged, at whatever
// level: the password of all people, or the session of one of them.
type watchedLog struct {
	t testing.TB

	faults atomic.Int64 // how many errors were logged

	mu      sync.Mutex // guards secrets
	secrets [][]byte
}

func newWatchedLog(t testing.TB) *watchedLog {
	return &watchedLog{t: t, secrets: [][]byte{[]byte(Password)}}
}

// logger is a log of all levels. A benchmark pays only for what production logs.
func (l *watchedLog) logger() *slog.Logger {
	level := slog.LevelDebug
	if _, measures := l.t.(*testing.B); measures {
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level}))
}

// keep has the log watch for one more secret.
func (l *watchedLog) keep(secret string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.secrets = append(l.secrets, []byte(secret))
}

// Write implements io.Writer. It gets one record at a time.
func (l *watchedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	for _, secret := range l.secrets {
		if bytes.Contains(p, secret) {
			l.t.Errorf("a secret is logged: %s", p)
		}
	}
	l.mu.Unlock()
	if bytes.Contains(p, []byte(" level=ERROR ")) {
		l.faults.Add(1)
	}
	if bytes.Contains(p, []byte(" level=DEBUG ")) || bytes.Contains(p, []byte(" level=INFO ")) {
		return len(p), nil
	}
	return l.t.Output().Write(p)
}
