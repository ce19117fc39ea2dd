package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"riverrun/cmd/riverrun/doctor"
	"riverrun/migrations/testdb"
)

// diagnosis is what doctor -json says, and its error.
func diagnosis(t *testing.T, vars map[string]string) (doctor.Report, error) {
	t.Helper()
	out, err := once(t, vars, "", "doctor", "-json")
	var r doctor.Report
	if bad := json.Unmarshal([]byte(out), &r); bad != nil {
		t.Fatalf("doctor -json: %v (%v)\n%s", bad, err, out)
	}
	return r, err
}

func rowOf(t *testing.T, r doctor.Report, name string) doctor.Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no row %q in %+v", name, r.Checks)
	return doctor.Check{}
}

// A newcomer's site is well, while it is served and while it is not.
func TestDoctorOfAHealthySite(t *testing.T) {
	address := freeAddress(t)
	vars := map[string]string{"RIVERRUN_DATA": testdb.Dir(t), "RIVERRUN_LISTEN": address, "RIVERRUN_URL": "http://" + address}

	// Before the first start there is nothing, and none is made.
	r, err := diagnosis(t, vars)
	if row := rowOf(t, r, "primary store"); err == nil || row.Status != doctor.Fail || !strings.Contains(row.Found, vars["RIVERRUN_DATA"]) {
		t.Errorf("before the first start: got %+v (%v)", row, err)
	}
	if left, err := os.ReadDir(vars["RIVERRUN_DATA"]); err != nil || len(left) > 0 {
		t.Errorf("a doctor left %v (%v)", left, err)
	}

	server := background(t, vars)
	r, err = diagnosis(t, vars)
	if err != nil {
		t.Errorf("while it is served: %v", err)
	}
	disk := regexp.MustCompile(`disk$`) // of this machine, which may be nearly full
	for _, c := range r.Checks {
		if c.Status != doctor.OK && !disk.MatchString(c.Name) {
			t.Errorf("while it is served: %+v", c)
		}
	}
	for name, want := range map[string]string{
		"nodes": "1 live", "site": "http://" + address + " answers", "site: websocket": "passes", "site: X-Forwarded-For": "there is no proxy",
		"files: content": "blobs 0 missing 0 orphaned 0", "primary: fsync": "on", "primary: server_encoding": "UTF8",
	} {
		if row := rowOf(t, r, name); row.Found != want {
			t.Errorf("%s: found %q, want %q", name, row.Found, want)
		}
	}
	for _, store := range []string{"primary", "secondary"} {
		n := 0
		for _, table := range r.Tables {
			if table.Store == store {
				n++
			}
		}
		if n != 10 && (store == "primary" || n == 0) {
			t.Errorf("%d tables of the %s store", n, store)
		}
	}
	out, err := once(t, vars, "", "doctor")
	if err != nil || !regexp.MustCompile(`(?m)^ok +primary store +PostgreSQL \d.*\n(.*\n)*checks \d+ ok \d warn 0 fail\n$`).MatchString(out) {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	server.end(t)

	r, err = diagnosis(t, vars)
	if row := rowOf(t, r, "nodes"); err != nil || row.Status != doctor.Warn {
		t.Errorf("while it is not served: got %+v (%v)", row, err)
	}
	if row := rowOf(t, r, "site"); row.Found != "not running" {
		t.Errorf("while it is not served: got %+v", row)
	}
	again := background(t, vars)
	again.end(t)
}

// Databases that are away, and no files, are rows. Nothing secret is in them.
func TestDoctorOfNothing(t *testing.T) {
	vars := map[string]string{
		"DATABASE_URL":              "postgres://alice:hunter2@" + freeAddress(t) + "/town",
		"RIVERS_DATABASE_URL":       "postgres://alice:hunter3@" + freeAddress(t) + "/rivers",
		"RIVERRUN_FILES":            "s3://key:hunter4@" + freeAddress(t) + "/bucket?insecure=1",
		"RIVERRUN_URL":              "http://" + freeAddress(t),
		"RIVERRUN_DATABASE_TIMEOUT": "2s",
	}
	r, err := diagnosis(t, vars)
	if err == nil {
		t.Error("no error")
	}
	for _, name := range []string{"primary store", "secondary store", "files", "site"} {
		if row := rowOf(t, r, name); row.Status != doctor.Fail || row.Do == "" {
			t.Errorf("got %+v, want a row that fails and says what to do", row)
		}
	}
	out, textErr := once(t, vars, "", "doctor")
	said, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(said), out, textErr.Error()} {
		if strings.Contains(text, "hunter") || strings.Contains(text, "goroutine ") {
			t.Errorf("it tells a secret, or how it came there:\n%s", text)
		}
	}
	var usage *usageError
	if _, err := once(t, vars, "", "doctor", "x"); !errors.As(err, &usage) {
		t.Errorf("doctor x: got %v, want a usageError", err)
	}
}

// A directory of files that is away, and nothing else, is told, and not made.
func TestDoctorOfAMissingDirectory(t *testing.T) {
	db := testdb.New(t)
	dir := filepath.Join(t.TempDir(), "files")
	vars := map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_FILES": dir, "RIVERRUN_LISTEN": "127.0.0.1:0"}
	server := background(t, vars)
	server.end(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	r, err := diagnosis(t, vars)
	if row := rowOf(t, r, "files"); err == nil || row.Status != doctor.Fail || !strings.Contains(row.Do, dir) {
		t.Errorf("got %+v (%v)", row, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made (%v)", err)
	}
}

// The connections of one process fit into a server with PostgreSQL's own max_connections.
func TestConnectionsOfTheDefaults(t *testing.T) {
	c, _, err := parse(map[string]string{"HOME": "/"})
	if err != nil {
		t.Fatal(err)
	}
	if n := c.primaryConnections() + c.connections + 1; n > 97 {
		t.Errorf("a process opens up to %d connections", n)
	}
}
