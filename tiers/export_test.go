package tiers

import "time"

// SetQuiet sets how long nobody may have spoken before the connection is tried.
func (b *Bus) SetQuiet(d time.Duration) { b.quiet = d }

// SetPause sets the least time between two notifications.
func (b *Bus) SetPause(d time.Duration) { b.pause = d }
