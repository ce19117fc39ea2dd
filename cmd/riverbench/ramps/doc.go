// Package ramps compares strategies of home feeds (rivers/strategies) on one machine, as the
// load tests of source 001 (Socialite) do: on each ramp one thing grows, and the rest stays. It
// measures the strategies within this process, without HTTP and HTML, which cost all of them
// the same.
package ramps
