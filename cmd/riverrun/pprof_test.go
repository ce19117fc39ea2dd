package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestProfiles(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := serveProfiles(listener)
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address) // it has one
	get := func(host string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/debug/pprof/goroutine?debug=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	for host, want := range map[string]int{
		address: http.StatusOK, "localhost:" + port: http.StatusOK, "[::1]:" + port: http.StatusOK,
		"rebound.example:" + port: http.StatusMisdirectedRequest, "192.0.2.1": http.StatusMisdirectedRequest,
	} {
		status, body := get(host)
		if status != want || strings.Contains(body, "goroutine profile") != (want == http.StatusOK) {
			t.Errorf("as %s: got %d %.40q, want %d", host, status, body, want)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		_ = conn.Close() // the test has failed
		t.Error("profiles are served after the end")
	}
}

// Both commands that go on serve profiles, and say so where they cannot.
func TestAnAddressOfProfilesInUse(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	vars := map[string]string{"RIVERRUN_DATA": t.TempDir(), "RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_PPROF": taken.Addr().String()}
	for _, command := range []string{"serve", "work"} {
		if _, err := once(t, vars, "", command); err == nil || !strings.HasPrefix(err.Error(), "RIVERRUN_PPROF: ") {
			t.Errorf("%s: got %v, want an error of RIVERRUN_PPROF", command, err)
		}
	}
}
