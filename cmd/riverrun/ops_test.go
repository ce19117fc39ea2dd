package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riverrun/migrations/testdb"
)

// freeAddress returns an address at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// getAs asks under another name, and with a header if it is not empty.
func getAs(t *testing.T, url, host, header string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if request.Host = host; header != "" {
		request.Header.Set(header, "192.0.2.1")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// Those who run the site have an address of their own, also where jobs are worked only.
func TestOpsListen(t *testing.T) {
	db := testdb.New(t)
	vars := map[string]string{
		"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_FILES": t.TempDir(), "RIVERRUN_LISTEN": "127.0.0.1:0",
	}
	for _, command := range []string{"serve", "work"} {
		vars["RIVERRUN_OPS_LISTEN"] = freeAddress(t)
		ops := "http://" + vars["RIVERRUN_OPS_LISTEN"]
		p := background(t, vars, command)
		for path, want := range map[string]string{
			"/healthz": "alive\n", "/readyz": "ready\n", "/metrics": "riverrun_jobs_waiting", "/debug/pprof/goroutine?debug=1": "goroutine profile",
		} {
			if status, body := get(t, ops+path); status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: GET %s: got %d %.100q, want 200 with %q", command, path, status, body, want)
			}
			// A scraper may come through a proxy; a name that anybody can point here may not.
			if status := getAs(t, ops+path, "192.0.2.7:9090", "X-Forwarded-For"); status != http.StatusOK {
				t.Errorf("%s: GET %s through a proxy: got %d, want 200", command, path, status)
			}
			if status := getAs(t, ops+path, "rebound.example", ""); status != http.StatusMisdirectedRequest {
				t.Errorf("%s: GET %s at rebound.example: got %d, want 421", command, path, status)
			}
		}
		if status, _ := get(t, ops+"/everything"); status != http.StatusNotFound {
			t.Errorf("%s: a page of the site at the address of health and metrics: got %d, want 404", command, status)
		}
		if url, ok := strings.CutPrefix(p.said, "riverrun serves "); ok {
			for _, path := range []string{"/readyz", "/metrics"} {
				if status, _ := get(t, url+path); status != http.StatusOK {
					t.Errorf("GET %s at the site's address, from this machine: got %d, want 200", path, status)
				}
				if status := getAs(t, url+path, "", "X-Forwarded-For"); status != http.StatusNotFound {
					t.Errorf("GET %s at the site's address, through a proxy: got %d, want 404", path, status)
				}
			}
			if status, _ := get(t, url+"/debug/pprof/"); status != http.StatusNotFound {
				t.Errorf("profiles at the site's address: got %d, want 404", status)
			}
		}
		if _, err := once(t, vars, "", command); err == nil || !strings.HasPrefix(err.Error(), "RIVERRUN_OPS_LISTEN: ") {
			t.Errorf("%s at an address in use: got %v, want an error of RIVERRUN_OPS_LISTEN", command, err)
		}
		p.end(t)
		if status, _ := get(t, ops+"/healthz"); status != 0 {
			t.Errorf("%s: GET /healthz after the stop: got %d, want no answer", command, status)
		}
	}
}

// A name may be told to be that of the address.
func TestNameOfOpsListen(t *testing.T) {
	handler := onlyNamed("river.lan:9090", http.NotFoundHandler())
	for host, want := range map[string]int{
		"river.lan:9090": 404, "River.LAN": 404, "localhost:9090": 404, "10.0.0.5:9090": 404, "[2001:db8::1]": 404,
		"evil.example": 421, "river.lan.evil.example": 421, "": 421,
	} {
		w := httptest.NewRecorder()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		if handler.ServeHTTP(w, request); w.Code != want {
			t.Errorf("at %q: got %d, want %d", host, w.Code, want)
		}
	}
}

// A site whose uploads have nowhere to go is not ready, until they have.
func TestNotReadyWithoutFiles(t *testing.T) {
	db := testdb.New(t)
	dir := filepath.Join(t.TempDir(), "files")
	server := background(t, map[string]string{
		"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_FILES": dir, "RIVERRUN_LISTEN": "127.0.0.1:0",
	})
	url := strings.TrimPrefix(server.said, "riverrun serves ")
	becomes := func(want int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		again := time.NewTicker(50 * time.Millisecond)
		defer again.Stop()
		for {
			status, body := get(t, url+"/readyz")
			if status == want {
				return
			}
			select {
			case <-again.C:
			case <-ctx.Done():
				t.Fatalf("GET /readyz: got %d %q, want %d", status, body, want)
			}
		}
	}
	becomes(http.StatusOK)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	becomes(http.StatusServiceUnavailable)
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	becomes(http.StatusOK)
	server.end(t)
}
