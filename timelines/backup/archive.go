package backup

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"time"
)

// Format is the version of the files that Writer writes.
const Format = 1

var (
	// ErrForeign says that a file is no backup.
	ErrForeign = errors.New("this is not a backup of riverrun")
	// ErrNewer says that a later version of riverrun wrote the file.
	ErrNewer = errors.New("a newer riverrun made this backup")
	// ErrDamaged says that a file is cut off, or was changed.
	ErrDamaged = errors.New("the backup is damaged or cut off")
)

// Manifest says what a backup is of.
type Manifest struct {
	Format int `json:"format"`
	// Site is the identity of the site's primary store, and Migrations are those it had taken.
	Site       int64    `json:"site"`
	Migrations []string `json:"migrations"`
	// PostgreSQL is the major version of the pg_dump that made the dump.
	PostgreSQL int       `json:"postgresql"`
	Made       time.Time `json:"made"`
}

// Totals are what a backup holds.
type Totals struct {
	Parts int   `json:"parts"`
	Dump  int64 `json:"dump_bytes"`
	Files int   `json:"files"`
	Bytes int64 `json:"file_bytes"`
	// Spoilt are how many of the blobs did not have the content of their sums already when the
	// backup was made.
	Spoilt int `json:"spoilt_files"`
}

// end is the last entry.
type end struct {
	Totals
	SHA256 string `json:"sha256"`
}

// Names of entries.
const (
	manifestName = "manifest.json"
	endName      = "end.json"
	partPattern  = "database/%08d"
	filesFolder  = "files/"
)

// summed is the sum of a backup: of the name, the size and the content of each entry before the
// end.
type summed struct{ hash.Hash }

func newSummed() summed { return summed{sha256.New()} }

func (s summed) begin(name string, size int64) { fmt.Fprintf(s, "%s %d\n", name, size) }

func (s summed) String() string { return fmt.Sprintf("%x", s.Sum(nil)) }
