// Package report prints what riverbench measured: a table for people, JSON for programs, and the
// format that benchstat compares.
package report
