package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/net/proxy"
)

// permit returns ErrForbidden for an address that may not be reached.
func (c *Client) permit(at netip.AddrPort) error {
	for _, network := range c.allow {
		if network.Contains(at.Addr()) {
			return nil
		}
	}
	if err := c.guardian.SafeAddrPort(at); err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return nil
}

// control is the net.Dialer.Control of all connections but those to the proxy. It is called
// with the address that the system is about to connect to.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return c.permit(at)
}

// dial connects to host:port, itself or through the proxy.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, end, err := c.begin(ctx, c.times.dial)
	if err != nil {
		return nil, err
	}
	defer end()
	if c.proxy == nil {
		return c.dialer.DialContext(ctx, network, address)
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	found, err := c.dialer.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	// As without a proxy, one public address is enough, and the first failure is returned.
	var first error
	for _, ip := range found {
		// Connecting to ::ffff:192.0.2.1 is connecting to 192.0.2.1.
		at := netip.AddrPortFrom(ip.Unmap(), uint16(port))
		err := c.permit(at)
		if err == nil {
			var conn net.Conn
			if conn, err = c.tunnel(ctx, at.String()); err == nil {
				return conn, nil
			}
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// dialTLS is dial with TLS. It is here, and not in http.Transport, so that failures of TLS differ
// from other failures.
func (c *Client) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	plain, err := c.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	ctx, end, err := c.begin(ctx, c.times.tls)
	if err != nil {
		plain.Close()
		return nil, err
	}
	defer end()
	secure := tls.Client(plain, &tls.Config{ServerName: host, RootCAs: c.roots})
	if err := secure.HandshakeContext(ctx); err != nil {
		plain.Close()
		if ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", ErrTLS, err)
		}
		return nil, err
	}
	return secure, nil
}

// tunnel asks the proxy for a connection to an address.
func (c *Client) tunnel(ctx context.Context, target string) (net.Conn, error) {
	conn, err := c.throughProxy(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProxy, err)
	}
	return conn, nil
}

func (c *Client) throughProxy(ctx context.Context, target string) (net.Conn, error) {
	var unguarded net.Dialer
	if c.proxy.Scheme == "socks5" {
		var auth *proxy.Auth
		if user := c.proxy.User; user != nil {
			password, _ := user.Password()
			auth = &proxy.Auth{User: user.Username(), Password: password}
		}
		socks, err := proxy.SOCKS5("tcp", c.proxy.Host, auth, &unguarded)
		if err != nil {
			return nil, err
		}
		return socks.(proxy.ContextDialer).DialContext(ctx, "tcp", target)
	}
	conn, err := unguarded.DialContext(ctx, "tcp", c.proxy.Host)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	err = connect(conn, target, c.proxy.User)
	if !stop() && err == nil {
		err = ctx.Err() // its deadline stays set
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// connect asks an HTTP proxy at the other end of conn to connect to target.
func connect(conn net.Conn, target string, user *url.Userinfo) error {
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	if user != nil {
		password, _ := user.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := request.Write(conn); err != nil {
		return err
	}
	answer := bufio.NewReader(io.LimitReader(conn, maxHeader))
	response, err := http.ReadResponse(answer, request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered %s", response.Status)
	}
	if answer.Buffered() > 0 { // a server waits until it is asked
		return errors.New("it sent more than its answer")
	}
	return nil
}
