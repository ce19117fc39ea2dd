package jobs

import (
	"context"
	"log/slog"
)

// libraryLog passes on the log lines of the job queue's library, and makes its
// information debugging output: every few seconds the library counts the jobs it has
// done, and the workers here log failures themselves. An "err" of the library becomes an "error", as
// in all other lines: repeated lines are counted by it.
type libraryLog struct{ to slog.Handler }

func newLibraryLog(log *slog.Logger) *slog.Logger { return slog.New(libraryLog{log.Handler()}) }

func (libraryLog) level(l slog.Level) slog.Level {
	if l == slog.LevelInfo {
		return slog.LevelDebug
	}
	return l
}

// Enabled implements slog.Handler.
func (h libraryLog) Enabled(ctx context.Context, l slog.Level) bool {
	return h.to.Enabled(ctx, h.level(l))
}

// Handle implements slog.Handler.
func (h libraryLog) Handle(ctx context.Context, r slog.Record) error {
	named := slog.NewRecord(r.Time, h.level(r.Level), r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" {
			a.Key = "error"
		}
		named.AddAttrs(a)
		return true
	})
	return h.to.Handle(ctx, named)
}

// WithAttrs implements slog.Handler.
func (h libraryLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return libraryLog{h.to.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h libraryLog) WithGroup(name string) slog.Handler { return libraryLog{h.to.WithGroup(name)} }
