package localpg

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	p := func(major int) Programs { return Programs{Dir: "d", Major: major} }
	for name, tc := range map[string]struct {
		found []Programs
		major int
		want  int
		err   error
		says  string
	}{
		"first that will do":       {found: []Programs{p(15), p(17)}, want: 15},
		"too old ones are passed":  {found: []Programs{p(13), p(16)}, want: 16},
		"the cluster's version":    {found: []Programs{p(17), p(15)}, major: 15, want: 15},
		"none":                     {err: ErrNotInstalled},
		"only an old one":          {found: []Programs{p(14)}, err: ErrNotInstalled, says: "version 14 was found, 15 or newer is needed"},
		"cluster older than those": {found: []Programs{p(17)}, major: 15, err: ErrVersion, says: "pg_upgrade"},
		"cluster newer than those": {found: []Programs{p(15)}, major: 17, err: ErrVersion, says: "install version 17"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := choose(tc.found, tc.major)
			if !errors.Is(err, tc.err) || got.Major != tc.want {
				t.Fatalf("choose(%v, %d): got %d (%v), want %d (%v)", tc.found, tc.major, got.Major, err, tc.want, tc.err)
			}
			if err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("choose(%v, %d): got %q, want it to say %q", tc.found, tc.major, err, tc.says)
			}
		})
	}
}

func TestParseMajor(t *testing.T) {
	for in, want := range map[string]int{
		"postgres (PostgreSQL) 15.17 (Debian 15.17-0+deb12u1)\n": 15,
		"postgres (PostgreSQL) 18beta1\n":                        18,
		"postgres (PostgreSQL) 9.6.24\n":                         9,
		"something else":                                         0,
	} {
		if got, ok := parseMajor(in); got != want || ok != (want != 0) {
			t.Errorf("parseMajor(%q): got %d, %v; want %d", in, got, ok, want)
		}
	}
}

func TestSocketDir(t *testing.T) {
	long := "/var/lib/" + strings.Repeat("a", 100)
	for dir, want := range map[string]string{"/var/lib/riverrun": "/var/lib/riverrun/socket"} {
		if got := socketDir(dir); got != want {
			t.Errorf("socketDir(%q): got %q, want %q", dir, got, want)
		}
	}
	a, b := socketDir(long), socketDir(long+"b")
	if a == b || a != socketDir(long) {
		t.Errorf("socketDir of two long paths: got %q and %q, want one of its own for each, always the same", a, b)
	}
	if n := len(filepath.Join(a, ".s.PGSQL."+port)); n > maxSocket {
		t.Errorf("socket of %q: got %d bytes, want at most %d", long, n, maxSocket)
	}
}

func TestTail(t *testing.T) {
	var last tail
	for range 3 {
		if _, err := last.Write([]byte(strings.Repeat("x", tailSize))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := last.Write([]byte("the end\n")); err != nil {
		t.Fatal(err)
	}
	if got := last.String(); len(got) > tailSize || !strings.HasSuffix(got, "xthe end") {
		t.Errorf("tail: got %d bytes ending in %q", len(got), got[max(0, len(got)-20):])
	}
}
