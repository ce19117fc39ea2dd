package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/web"
	"riverrun/web/webtest"
)

// proxySite is the name of the site behind a proxy. net/http/httptest has a certificate for it.
const proxySite = "example.com"

// visitorAddress is where visitors of a proxy come from. The proxy itself comes to riverrun
// from 127.0.0.1.
const visitorAddress = "127.0.0.2"

// A site of two nodes is reached through nginx and through Caddy, by the configurations
// that hosts copy. Only names, ports and paths are replaced in them.
func TestProxies(t *testing.T) {
	t.Parallel()
	s := newProxied(t)
	t.Run("nginx", func(t *testing.T) { s.reached(t, s.nginx) })
	t.Run("Caddy", func(t *testing.T) { s.reached(t, s.caddy) })
}

// proxied is a site of two nodes that one proxy after the other stands before.
type proxied struct {
	t                *testing.T // of the site, which outlives the proxies
	port             string     // where the proxy takes visitors with TLS
	certificate, key string     // files
	roots            *x509.CertPool
	vars             map[string]string
	nodes            [2]string // their addresses
	children         [2]*child
	log              *written // of both nodes
}

func newProxied(t *testing.T) *proxied {
	t.Helper()
	s := &proxied{t: t, port: freePort(t), nodes: [2]string{"127.0.0.1:" + freePort(t), "127.0.0.1:" + freePort(t)}, log: &written{more: make(chan struct{}, 1)}}
	s.vars, _ = onDatabase(t)
	s.vars["RIVERRUN_URL"] = "https://" + proxySite
	for _, name := range []string{"alice", "bob"} {
		out, err := once(t, s.vars, "correct horse\n", "account", "create", name)
		must(t, "created "+name+"\n", out, err)
	}
	s.certify(t)
	for i := range s.nodes {
		s.startNode(i)
	}
	return s
}

// startNode starts a node at its address. It is killed when the test ends.
func (s *proxied) startNode(i int) {
	s.t.Helper()
	vars := maps.Clone(s.vars)
	vars["RIVERRUN_LISTEN"] = s.nodes[i]
	var pairs []string
	for name, value := range vars {
		pairs = append(pairs, name+"="+value)
	}
	c := spawnLogging(s.t, s.log, pairs)
	s.t.Cleanup(func() { c.kill(s.t) })
	s.children[i] = c
}

// certify writes a certificate of the site and its key into files.
func (s *proxied) certify(t *testing.T) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	s.roots = x509.NewCertPool()
	s.roots.AddCert(server.Certificate())
	s.certificate, s.key = filepath.Join(t.TempDir(), "site.pem"), filepath.Join(t.TempDir(), "site.key")
	for file, block := range map[string]*pem.Block{
		s.certificate: {Type: "CERTIFICATE", Bytes: server.Certificate().Raw},
		s.key:         {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// nginx starts nginx, whose main file is as Debian's where that matters: it compresses.
func (s *proxied) nginx(t *testing.T) {
	dir := t.TempDir()
	place(t, "nginx.conf", filepath.Join(dir, "site.conf"),
		"listen 80;", "listen 127.0.0.1:"+freePort(t)+";",
		"listen 443 ", "listen 127.0.0.1:"+s.port+" ",
		"/etc/letsencrypt/live/river.example/fullchain.pem", s.certificate,
		"/etc/letsencrypt/live/river.example/privkey.pem", s.key,
		"127.0.0.1:8080", s.nodes[0],
		"# server 127.0.0.1:8081", "server "+s.nodes[1],
		"river.example", proxySite,
	)
	main := "daemon off;\nworker_processes 2;\npid nginx.pid;\nerror_log stderr notice;\nevents {}\nhttp {\n    access_log off;\n    gzip on;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		main += "    " + kind + "_temp_path " + filepath.Join(dir, kind) + ";\n"
	}
	main += "    include site.conf;\n}\n"
	if os.Getuid() == 0 {
		main = "user root;\n" + main // the directory is root's
	}
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	s.startProxy(t, nil, "nginx", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-e", "stderr")
}

// caddy starts Caddy.
func (s *proxied) caddy(t *testing.T) {
	dir := t.TempDir()
	place(t, "Caddyfile", filepath.Join(dir, "site"),
		"# tls /etc/ssl/river.example.pem /etc/ssl/private/river.example.key", "tls "+s.certificate+" "+s.key,
		"reverse_proxy 127.0.0.1:8080 {", "reverse_proxy "+s.nodes[0]+" "+s.nodes[1]+" {",
		"river.example", proxySite,
	)
	main := "{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port " + freePort(t) + "\n\thttps_port " + s.port + "\n}\nimport site\n"
	if err := os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	s.startProxy(t, []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir},
		"caddy", "run", "--config", filepath.Join(dir, "Caddyfile"))
}

// place writes a file of the directory deploy with pairs of texts replaced. It must have each of
// the first ones.
func place(t *testing.T, name, to string, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if !bytes.Contains(text, []byte(pairs[i])) {
			t.Fatalf("deploy/%s has no %q", name, pairs[i])
		}
	}
	if err := os.WriteFile(to, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startProxy starts a proxy and returns when it takes visitors. It is stopped when the test ends.
func (s *proxied) startProxy(t *testing.T, vars []string, program string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(program)
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} { // on the path of root alone
		if err != nil {
			path, err = exec.LookPath(filepath.Join(dir, program))
		}
	}
	if err != nil {
		t.Fatalf("%s is missing; install it (make %s)", program, program)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), vars...)
	said := &written{more: make(chan struct{}, 1)}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("%s ended: %v", program, err)
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", program, strings.Join(said.lines(), "\n"))
		}
	})
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(webtest.Patience); ; <-tick.C {
		conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case end := <-ended:
			ended <- end
			t.Fatalf("%s ended at once: %v", program, end)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s takes no visitors: %v", program, err)
		}
	}
}

// freePort returns a port of this machine that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// transport makes a visitor's connections. All go to the proxy. It leaves answers as they are
// on the wire.
func (s *proxied) transport(t *testing.T) *http.Transport {
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(visitorAddress)}}
	transport := &http.Transport{
		DisableCompression: true,
		TLSClientConfig:    &tls.Config{RootCAs: s.roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return from.DialContext(ctx, network, "127.0.0.1:"+s.port)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// reached starts a proxy and tries all that a host expects of it.
func (s *proxied) reached(t *testing.T, start func(*testing.T)) {
	start(t)
	over := s.transport(t)
	front := &child{url: "https://" + proxySite}
	alice, bob := signInOver(t, over, front, "alice"), signInOver(t, over, front, "bob")
	bob.form("/alice/follow", nil)

	t.Run("socket", func(t *testing.T) { s.pushes(t, alice, bob) })
	t.Run("address", func(t *testing.T) { s.seesAddress(t, over) })
	t.Run("compression", func(t *testing.T) { s.compressesOnce(t, bob) })
	t.Run("upload", func(t *testing.T) { s.takesUploads(t, alice) })
	t.Run("private", func(t *testing.T) {
		for path, want := range map[string]int{"/metrics": http.StatusNotFound, "/readyz": http.StatusNotFound, "/healthz": http.StatusOK} {
			if status, body, _ := ask(t, bob, path, ""); status != want {
				t.Errorf("GET %s: got %d %.100q, want %d", path, status, body, want)
			}
		}
	})
	t.Run("stopped node", func(t *testing.T) {
		s.children[0].stop(t)
		for range 6 { // some of them would be the turn of the stopped one
			if page := bob.page("/alice"); !strings.Contains(page, "</html>") {
				t.Errorf("a page while a node is stopped: got %.200q", page)
			}
		}
	})
	s.startNode(0)
}

// pushes: alice posts at either node, past the proxy. bob's open page, which is at one of
// them, gets both posts.
func (s *proxied) pushes(t *testing.T, alice, bob *visitor) {
	ctx, cancel := context.WithTimeout(t.Context(), webtest.Patience)
	defer cancel()
	conn, err := bob.subscribe(ctx, bob.page("/"))
	if err != nil {
		t.Fatalf("a socket through the proxy: %v", err)
	}
	defer func() { _ = conn.CloseNow() }()
	var posts []string
	for i, node := range s.nodes {
		posts = append(posts, fmt.Sprintf("%s by way of node %d", t.Name(), i))
		form := url.Values{"body": {posts[i]}}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+node+"/posts", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = proxySite
		r.Header = http.Header{"Cookie": {alice.cookie()}, "Content-Type": {"application/x-www-form-urlencoded"}}
		reply, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != http.StatusSeeOther {
			t.Fatalf("a post at node %d: got %s", i, reply.Status)
		}
	}
	for got := ""; len(posts) > 0; {
		_, text, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("the page lacks %q: %v", posts, err)
		}
		got += string(text)
		posts = slices.DeleteFunc(posts, func(post string) bool { return strings.Contains(got, post) })
	}
}

// seesAddress: riverrun sees where a visitor comes from, and not what the visitor claims.
func (s *proxied) seesAddress(t *testing.T, over http.RoundTripper) {
	name := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	form := url.Values{"username": {name}, "password": {"wrong horse"}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+proxySite+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"X-Forwarded-For": {"203.0.113.9"}, "Content-Type": {"application/x-www-form-urlencoded"}}
	reply, err := over.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	late := time.After(webtest.Patience)
	for {
		i := slices.IndexFunc(s.log.lines(), func(line string) bool {
			return strings.Contains(line, `msg="sign-in failed"`) && strings.HasSuffix(line, " name="+name)
		})
		if i >= 0 {
			if line := s.log.lines()[i]; !strings.Contains(line, " address="+visitorAddress+" ") {
				t.Errorf("the log has %q, want the address %s", line, visitorAddress)
			}
			return
		}
		select {
		case <-s.log.more:
		case <-late:
			t.Fatalf("the log has no failed sign-in of %s", name)
		}
	}
}

// compressesOnce: a page comes compressed to those who accept it, and only once.
func (s *proxied) compressesOnce(t *testing.T, v *visitor) {
	for _, accept := range []string{"", "gzip"} {
		status, body, header := ask(t, v, "/alice", accept)
		if got := strings.Join(header.Values("Content-Encoding"), ", "); got != accept {
			t.Errorf("Accept-Encoding %q: got Content-Encoding %q", accept, got)
			continue
		}
		if accept == "gzip" {
			plain, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(plain); err != nil {
				t.Errorf("a compressed page: %v", err)
			}
		}
		if status != http.StatusOK || !bytes.Contains(body, []byte("</html>")) {
			t.Errorf("Accept-Encoding %q: got %d %.200q, want a whole page", accept, status, body)
		}
	}
}

// takesUploads: a post may have all the files it may have by default, as large as they may be. riverrun
// itself refuses more, and the visitor reads why.
func (s *proxied) takesUploads(t *testing.T, v *visitor) {
	for _, tc := range []struct {
		what        string
		files, size int
		want        int
		text        string
	}{
		{"the most", timelines.DefaultOptions().PostFiles, web.DefaultFileSize, http.StatusOK, "file-19.bin"},
		{"one file too large", 1, web.DefaultFileSize + 1, http.StatusUnprocessableEntity, "</html>"},
		{"too much for any post", timelines.DefaultOptions().PostFiles + 1, web.DefaultFileSize + 1<<20, http.StatusRequestEntityTooLarge, "</html>"},
	} {
		parts, length, kind := filesForm(t, tc.files, tc.size)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+proxySite+"/posts", parts)
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = length
		r.Header.Set("Content-Type", kind)
		reply, err := v.client.Do(r)
		if err != nil {
			t.Errorf("%s: %v", tc.what, err)
			continue
		}
		body, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil || reply.StatusCode != tc.want || !bytes.Contains(body, []byte(tc.text)) {
			t.Errorf("%s: got %s (%v) %.300q, want %d and %q", tc.what, reply.Status, err, body, tc.want, tc.text)
		}
	}
}

// filesForm is a form of a post with files of a size, its length and its type.
func filesForm(t *testing.T, files, size int) (_ io.Reader, length int64, kind string) {
	t.Helper()
	content := bytes.Repeat([]byte("river\x00"), size/6+1)[:size]
	var head bytes.Buffer
	var parts []io.Reader
	form := multipart.NewWriter(&head)
	cut := func() {
		length += int64(head.Len())
		parts = append(parts, strings.NewReader(head.String()))
		head.Reset()
	}
	if err := form.WriteField("body", t.Name()); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		if _, err := form.CreateFormFile("file", fmt.Sprintf("file-%d.bin", i)); err != nil {
			t.Fatal(err)
		}
		cut()
		parts = append(parts, bytes.NewReader(content))
		length += int64(size)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	cut()
	return io.MultiReader(parts...), length, form.FormDataContentType()
}

// ask loads a page and returns the answer as it came.
func ask(t *testing.T, v *visitor, path, accept string) (int, []byte, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.node.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept-Encoding", accept)
	}
	reply, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, body, reply.Header
}

// Where systemd is there it takes every line of the unit.
func TestUnit(t *testing.T) {
	t.Parallel()
	unit := filepath.Join(t.TempDir(), "riverrun.service")
	place(t, "riverrun.service", unit, "/usr/local/bin/riverrun", os.Args[0])
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return
	}
	out, err := exec.CommandContext(t.Context(), verify, "verify", unit).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("riverrun.service")) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
