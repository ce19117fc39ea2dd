package localpg

import (
	"strings"
	"sync"
)

// tail keeps the end of what was written to it, for an error message: the server's output
// before its own log is open, or all of it if it keeps no log.
type tail struct {
	mu   sync.Mutex // guards last
	last []byte
}

const tailSize = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if drop := len(t.last) - tailSize; drop > 0 {
		t.last = append(t.last[:0], t.last[drop:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.last))
}
