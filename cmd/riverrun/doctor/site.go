package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// agent is what all requests of a doctor call themselves, in the proxy's log.
const agent = "riverrun-doctor"

// site asks the site at its public address, by way of the proxy in front of it.
func (e examination) site(ctx context.Context, nodes int) {
	if e.URL == "" {
		e.add("site", OK, "RIVERRUN_URL is not set: there is no public address to ask", "")
		return
	}
	at, err := url.Parse(e.URL)
	if err != nil {
		e.addError("site", err, "mend RIVERRUN_URL")
		return
	}
	// HTTP/1.1, which WebSockets need, and no proxy on the way out.
	transport := &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	defer transport.CloseIdleConnections()
	asker := asker{&http.Client{
		Transport:     transport,
		Timeout:       e.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, e.URL}

	health, body, err := asker.ask(ctx, "/healthz")
	switch {
	case err != nil && nodes == 0:
		e.add("site", OK, "not running", "")
		return
	case err != nil:
		e.addError("site", err, "see that the proxy at "+e.URL+" runs, that its certificate is valid, and that this machine reaches it")
		return
	case health.StatusCode >= 300 && health.StatusCode < 400:
		e.add("site", Fail, fmt.Sprintf("%s leads to %s", e.URL, health.Header.Get("Location")), "set RIVERRUN_URL to the address that people see")
		return
	case health.StatusCode != http.StatusOK || body != "alive\n":
		if nodes == 0 {
			e.add("site", OK, "not running", "")
			return
		}
		e.add("site", Fail, fmt.Sprintf("%s/healthz is answered %d by something that is not riverrun", e.URL, health.StatusCode), "see where the proxy passes requests on to")
		return
	}
	e.add("site", OK, e.URL+" answers", "")

	secure := health.Header.Get("Strict-Transport-Security") != "" // riverrun sends it if its own RIVERRUN_URL is https
	switch {
	case (at.Scheme == "https") != secure:
		e.add("site: https", Fail, "the running site has another RIVERRUN_URL than this one: one is https and one is not", "start all processes with the same RIVERRUN_URL")
	case secure:
		e.add("site: https", OK, "https, also to the site", "")
	default:
		e.add("site: https", OK, "http", "")
	}
	e.host(ctx, asker)
	e.forwarded(ctx, asker, at)
	e.socket(ctx, asker)
}

// host checks that the proxy passes on the name that people use.
func (e examination) host(ctx context.Context, asker asker) {
	answer, _, err := asker.ask(ctx, "/robots.txt")
	switch {
	case err != nil:
		e.addError("site: host", err, "look into the log of the proxy")
	case answer.StatusCode == http.StatusMisdirectedRequest:
		e.add("site: host", Fail, "the site is asked for another host than that of RIVERRUN_URL", "have the proxy pass the Host header on (nginx: proxy_set_header Host $host)")
	case answer.StatusCode != http.StatusOK:
		e.add("site: host", Warn, fmt.Sprintf("/robots.txt is answered %d", answer.StatusCode), "see what the proxy does with that address")
	default:
		e.add("site: host", OK, "the site is asked for its own host", "")
	}
}

// forwarded checks that the proxy says where requests come from. If it does not, the site takes them for
// its own machine's, or for the proxy's, and says at /readyz what it says to its own machine only.
func (e examination) forwarded(ctx context.Context, asker asker, at *url.URL) {
	const name = "site: X-Forwarded-For"
	answer, body, err := asker.ask(ctx, "/readyz")
	_, listens, splitErr := net.SplitHostPort(e.Listen)
	direct := splitErr == nil && at.Scheme == "http" && at.Port() == listens
	switch {
	case err != nil:
		e.addError(name, err, "look into the log of the proxy")
	case answer.StatusCode == http.StatusNotFound:
		e.add(name, OK, "the site knows that its visitors are elsewhere", "")
	case strings.HasPrefix(body, "ready") || strings.HasPrefix(body, "not ready"):
		if direct {
			e.add(name, OK, "there is no proxy", "")
			return
		}
		e.add(name, Fail, "the proxy does not say where requests come from: all visitors count as one address, and anybody reads /metrics",
			"have the proxy append the address to X-Forwarded-For (nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for)")
	default:
		e.add(name, Warn, fmt.Sprintf("/readyz is answered %d", answer.StatusCode), "see what the proxy does with that address")
	}
}

// socket checks that the proxy lets WebSockets through.
func (e examination) socket(ctx context.Context, asker asker) {
	answer, _, err := asker.ask(ctx, "/ws", "Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "cml2ZXJydW4tZG9jdG9yIQ==", "Origin", e.URL)
	switch {
	case err != nil:
		e.addError("site: websocket", err, "look into the log of the proxy")
	case answer.StatusCode == http.StatusSwitchingProtocols:
		e.add("site: websocket", OK, "passes", "")
	default:
		e.add("site: websocket", Fail, fmt.Sprintf("/ws is answered %d, so no page is live", answer.StatusCode),
			"have the proxy pass WebSockets on (nginx: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection \"upgrade\")")
	}
}

// asker asks the site.
type asker struct {
	client *http.Client
	base   string
}

// ask returns an answer and the beginning of its body; that of a WebSocket is closed unread.
func (a asker) ask(ctx context.Context, path string, headers ...string) (*http.Response, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, nil)
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("User-Agent", agent)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := a.client.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return answer, "", nil
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1000))
	return answer, string(body), err
}
