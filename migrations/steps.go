package migrations

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed primary/*.sql secondary/*.sql
var files embed.FS

// step is one numbered pair of files.
type step struct {
	version  int
	name     string
	up, down string
}

// recorded is what a database records of the step: its name, and a hash of its file, so that
// a database of a build that had another file of this name is recognised.
func (s step) recorded() string { return fmt.Sprintf("%s %.6x", s.name, sha256.Sum256([]byte(s.up))) }

// is returns ErrEarlierBuild if a database has recorded something else in the step's place.
func (s step) is(name string) error {
	if s.recorded() == name {
		return nil
	}
	return fmt.Errorf("%w: its migration %04d is %s, and not %s", ErrEarlierBuild, s.version, name, s.recorded())
}

// load reads the pairs in dir, which must be numbered from 1 without a gap.
func load(fsys fs.FS, dir string) ([]step, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("migrations of %s: %w", dir, err)
	}
	byVersion := map[int]*step{}
	for _, e := range entries {
		base, up := strings.CutSuffix(e.Name(), ".up.sql")
		if !up {
			var down bool
			if base, down = strings.CutSuffix(e.Name(), ".down.sql"); !down {
				return nil, fmt.Errorf("migrations of %s: %s is neither .up.sql nor .down.sql", dir, e.Name())
			}
		}
		number, name, _ := strings.Cut(base, "_")
		version, err := strconv.Atoi(number)
		if err != nil || name == "" {
			return nil, fmt.Errorf("migrations of %s: %s is not named NNNN_name", dir, e.Name())
		}
		sql, err := fs.ReadFile(fsys, path.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("migrations of %s: %w", dir, err)
		}
		s := byVersion[version]
		if s == nil {
			s = &step{version: version, name: name}
			byVersion[version] = s
		}
		if s.name != name {
			return nil, fmt.Errorf("migrations of %s: number %d is both %s and %s", dir, version, s.name, name)
		}
		if up {
			s.up = string(sql)
		} else {
			s.down = string(sql)
		}
	}
	steps := make([]step, 0, len(byVersion))
	for _, s := range byVersion {
		steps = append(steps, *s)
	}
	slices.SortFunc(steps, func(a, b step) int { return a.version - b.version })
	for i, s := range steps {
		if s.version != i+1 {
			return nil, fmt.Errorf("migrations of %s: number %d is missing", dir, i+1)
		}
		if s.up == "" || s.down == "" {
			return nil, fmt.Errorf("migrations of %s: %04d_%s lacks its up or its down file", dir, s.version, s.name)
		}
	}
	return steps, nil
}
