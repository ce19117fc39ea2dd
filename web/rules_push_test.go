package web

import (
	"sync/atomic"
	"testing"
)

func (s *ruleSite) checkPushes(t *testing.T, checks *atomic.Int64) {}
