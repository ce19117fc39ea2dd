package localpg

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// MinMajor is the oldest supported version of PostgreSQL.
const MinMajor = 15

// ErrNotInstalled says that no PostgreSQL of MinMajor or newer was found. The error that
// wraps it says how to install one.
var ErrNotInstalled = errors.New("PostgreSQL is not installed")

// ErrVersion says that PostgreSQL is installed, but not the version of the data directory.
// The error that wraps it says how to upgrade.
var ErrVersion = errors.New("the data directory needs another version of PostgreSQL")

// Programs are programs of PostgreSQL of one version: those of the server (Find), or of its clients
// (FindClients).
type Programs struct {
	// Dir holds them.
	Dir string
	// Major is their version.
	Major int
}

// places are the directories outside of PATH in which packages put the server's programs:
// those of Debian and Ubuntu, Fedora and the PostgreSQL project, Alpine, Homebrew on both
// kinds of Mac, and a build from source.
var places = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/usr/local/pgsql/bin",
}

// Find returns the programs in PATH, or else the newest of the other places. If major is not
// 0, it returns only programs of that version.
func Find(major int) (Programs, error) {
	var found []Programs
	if path, err := exec.LookPath("postgres"); err == nil {
		found = appendPrograms(found, filepath.Dir(path))
	}
	var elsewhere []Programs
	for _, pattern := range places {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			return Programs{}, fmt.Errorf("find PostgreSQL in %s: %w", pattern, err)
		}
		for _, dir := range dirs {
			elsewhere = appendPrograms(elsewhere, dir)
		}
	}
	slices.SortStableFunc(elsewhere, func(a, b Programs) int { return b.Major - a.Major })
	return choose(append(found, elsewhere...), major)
}

// choose returns the first of found that is of the version, or new enough.
func choose(found []Programs, major int) (Programs, error) {
	var old []int
	for _, p := range found {
		switch {
		case p.Major < MinMajor:
			old = append(old, p.Major)
		case major == 0 || p.Major == major:
			return p, nil
		}
	}
	newest := 0
	for _, p := range found {
		newest = max(newest, p.Major)
	}
	switch {
	case major != 0 && newest > major:
		return Programs{}, fmt.Errorf("%w: it was made by version %d, and %d is installed; install version %d beside it, or upgrade the data with pg_upgrade (https://www.postgresql.org/docs/%d/pgupgrade.html)",
			ErrVersion, major, newest, major, newest)
	case major != 0 && newest != 0:
		return Programs{}, fmt.Errorf("%w: it was made by version %d, and only %d is installed; install version %d",
			ErrVersion, major, newest, major)
	case len(old) != 0:
		return Programs{}, fmt.Errorf("%w: version %d was found, %d or newer is needed; see https://www.postgresql.org/download/",
			ErrNotInstalled, slices.Max(old), MinMajor)
	}
	if command := installCommand(); command != "" {
		return Programs{}, fmt.Errorf("%w; install it with: %s (or set DATABASE_URL to a server that runs)", ErrNotInstalled, command)
	}
	return Programs{}, fmt.Errorf("%w; see https://www.postgresql.org/download/ (or set DATABASE_URL to a server that runs)", ErrNotInstalled)
}

// appendPrograms appends the programs in dir if both are there and tell their version.
func appendPrograms(found []Programs, dir string) []Programs {
	if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil {
		return found
	}
	out, err := exec.Command(filepath.Join(dir, "postgres"), "-V").Output()
	if err != nil {
		return found
	}
	major, ok := parseMajor(string(out))
	if !ok {
		return found
	}
	return append(found, Programs{Dir: dir, Major: major})
}

var versionPattern = regexp.MustCompile(`^postgres \(PostgreSQL\) (\d+)`)

// parseMajor parses the output of postgres -V, "postgres (PostgreSQL) 15.17
// (Debian 15.17-0+deb12u1)" or "postgres (PostgreSQL) 18beta1".
func parseMajor(version string) (int, bool) {
	m := versionPattern.FindStringSubmatch(version)
	if m == nil {
		return 0, false
	}
	major, err := strconv.Atoi(m[1])
	return major, err == nil
}

// installCommand returns the command with which this machine's package manager installs
// PostgreSQL, "" if it is an unknown one. The Makefile runs the same.
func installCommand() string {
	for _, manager := range []struct{ program, command string }{
		{"apt-get", "sudo apt-get install postgresql"},
		{"dnf", "sudo dnf install postgresql-server postgresql-contrib"},
		{"apk", "sudo apk add postgresql postgresql-contrib"},
		{"pacman", "sudo pacman -S postgresql"},
		{"brew", "brew install postgresql@17"},
	} {
		if _, err := exec.LookPath(manager.program); err == nil {
			return manager.command
		}
	}
	return ""
}
