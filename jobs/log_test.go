package jobs

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestLibraryLog(t *testing.T) {
	for _, tt := range []struct {
		least slog.Level
		want  []string
	}{
		{slog.LevelInfo, []string{"WARN", "ERROR"}},
		{slog.LevelDebug, []string{"DEBUG", "DEBUG", "WARN", "ERROR"}},
	} {
		var out bytes.Buffer
		log := newLibraryLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: tt.least}))).With("a", 1).WithGroup("g")
		log.Debug("detail")
		log.Info("counts")
		log.Warn("odd")
		log.Error("wrong", "err", "broken")
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != len(tt.want) {
			t.Fatalf("from %v on: %d lines, want %d:\n%s", tt.least, len(lines), len(tt.want), out.String())
		}
		for i, line := range lines {
			if strings.Contains(line, "level=ERROR") && !strings.Contains(line, "g.error=broken") {
				t.Errorf("from %v on: line %d is %s, want its error under the name by which repeated errors are counted", tt.least, i+1, line)
			}
			if !strings.Contains(line, "level="+tt.want[i]) || !strings.Contains(line, "a=1") {
				t.Errorf("from %v on: line %d is %s, want level %s and a=1", tt.least, i+1, line, tt.want[i])
			}
		}
	}
}
