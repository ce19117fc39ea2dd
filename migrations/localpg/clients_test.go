package localpg

import (
	"errors"
	"strings"
	"testing"
)

func TestClientsAreOfTheServersVersionOrNewer(t *testing.T) {
	found := []Programs{{"/path", 17}, {"/fifteen", 15}, {"/sixteen", 16}}
	for server, want := range map[int]string{14: "/fifteen", 15: "/fifteen", 16: "/sixteen", 17: "/path"} {
		if got, err := chooseClients(found, server); err != nil || got.Dir != want {
			t.Errorf("for a server of version %d: got %+v (%v), want %s", server, got, err, want)
		}
	}
	for _, tc := range []struct {
		found  []Programs
		advice string
	}{
		{nil, "were not found; the server is of version 18: install its client programs (Debian, Ubuntu: postgresql-client-18)"},
		{found, "is of version 17, and the server is of version 18, which is newer"},
	} {
		if _, err := chooseClients(tc.found, 18); !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), tc.advice) {
			t.Errorf("for a server of version 18: got %v, want %q", err, tc.advice)
		}
	}
}

func TestFindClients(t *testing.T) {
	server, err := Find(0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := FindClients(server.Major); err != nil || got.Major != server.Major {
		t.Errorf("for the server %+v: got %+v (%v)", server, got, err)
	}
}
