package localpg

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// clients are the programs that back up and restore a database.
var clients = []string{"pg_dump", "pg_restore", "psql"}

// FindClients returns the directory of pg_dump, pg_restore and psql for a server of that major
// version: those of the same version if they are installed, or else the oldest newer ones, since
// pg_dump reads the databases of older servers, and not of newer ones. They are looked for in PATH
// and in the places where Find looks.
func FindClients(server int) (Programs, error) {
	var found []Programs
	if path, err := exec.LookPath("pg_dump"); err == nil {
		found = appendClients(found, filepath.Dir(path))
	}
	for _, pattern := range places {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			return Programs{}, fmt.Errorf("find PostgreSQL in %s: %w", pattern, err)
		}
		for _, dir := range dirs {
			found = appendClients(found, dir)
		}
	}
	return chooseClients(found, server)
}

func chooseClients(found []Programs, server int) (Programs, error) {
	slices.SortStableFunc(found, func(a, b Programs) int { return a.Major - b.Major })
	for _, p := range found {
		if p.Major >= server {
			return p, nil
		}
	}
	if len(found) == 0 {
		return Programs{}, fmt.Errorf("%w: pg_dump, pg_restore and psql were not found; the server is of version %d: install its client programs (Debian, Ubuntu: postgresql-client-%d)",
			ErrNotInstalled, server, server)
	}
	return Programs{}, fmt.Errorf("%w: the pg_dump that was found is of version %d, and the server is of version %d, which is newer: install its client programs (Debian, Ubuntu: postgresql-client-%d)",
		ErrNotInstalled, found[len(found)-1].Major, server, server)
}

// appendClients appends the programs in dir if all are there and pg_dump tells its version.
func appendClients(found []Programs, dir string) []Programs {
	for _, program := range clients {
		if _, err := exec.LookPath(filepath.Join(dir, program)); err != nil {
			return found
		}
	}
	out, err := exec.Command(filepath.Join(dir, "pg_dump"), "-V").Output()
	if err != nil {
		return found
	}
	m := clientPattern.FindSubmatch(out)
	if m == nil {
		return found
	}
	major, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return found
	}
	return append(found, Programs{Dir: dir, Major: major})
}

var clientPattern = regexp.MustCompile(`^pg_dump \(PostgreSQL\) (\d+)`)
