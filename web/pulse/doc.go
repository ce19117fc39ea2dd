// Package pulse remembers how this process was in the last hours, for the page /admin/health.
//
// A [Recorder] reads the process's own figures, which a scraper would be given, every ten seconds, and
// keeps those of the last three hours in memory. It is told of each answer by its route. It does
// not know what other processes do, nor what was before this one began: Prometheus can collect that.
package pulse
