package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// The reasons why an address cannot be read. Every error of this package is one of them, or a
// *StatusError, or the context.Canceled of the caller. Their texts name the host, but no other part
// of an address.
var (
	// ErrInvalid: not an address to fetch. It, or the target of a redirect, is malformed,
	// not of http or https, or has a user name in it.
	ErrInvalid = errors.New("not an address that can be fetched")
	// ErrForbidden: the address or port is not public. Nothing was sent to it.
	ErrForbidden = errors.New("not a public address")
	// ErrDNS: the name has no address, or it could not be looked up. The *net.DNSError is
	// in the chain, and its IsNotFound says which.
	ErrDNS = errors.New("cannot look up the name")
	// ErrRefused: nobody listens there, or there is no way to get there.
	ErrRefused = errors.New("cannot connect")
	// ErrProxy: the configured proxy cannot be reached, or makes no connection to the address in time.
	ErrProxy = errors.New("the proxy makes no connection")
	// ErrTLS: no secure connection, for instance as the certificate is not valid.
	ErrTLS = errors.New("no secure connection")
	// ErrTimeout: it took too long, by the times of Config or the deadline of the caller.
	ErrTimeout = errors.New("took too long")
	// ErrTooLarge: the body is larger than Request.MaxBytes.
	ErrTooLarge = errors.New("too large")
	// ErrRedirects: more than MaxRedirects redirects.
	ErrRedirects = errors.New("too many redirects")
	// ErrDowngrade: a redirect from https to http.
	ErrDowngrade = errors.New("redirect from https to http")
	// ErrType: the content is not of a type in Request.Accept, or is encoded in another way
	// than by gzip.
	ErrType = errors.New("not the accepted type of content")
	// ErrBroken: the connection broke, or what was sent is not HTTP, or its header is too large.
	ErrBroken = errors.New("no valid response")
	// ErrClosed: the client was closed.
	ErrClosed = errors.New("the client is closed")
)

var all = []error{
	ErrInvalid, ErrForbidden, ErrDNS, ErrRefused, ErrProxy, ErrTLS, ErrTimeout, ErrTooLarge,
	ErrRedirects, ErrDowngrade, ErrType, ErrBroken, ErrClosed,
}

// StatusError is a response with a status other than 2xx and 304.
type StatusError struct {
	Code int // as in http.StatusNotFound
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Code, http.StatusText(e.Code))
}

// typed returns the error of a request to a host as this package promises them.
func typed(ctx context.Context, host string, err error) error {
	// The error of http.Client contains the whole address.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	switch reason := reasonOf(ctx, err); reason {
	case nil:
	case ErrTooLarge:
		err = reason // the error of net/http speaks of a request
	default:
		err = fmt.Errorf("%w: %w", reason, err)
	}
	return fmt.Errorf("fetch from %q: %w", host, err)
}

// reasonOf returns the reason that an error of net or net/http stands for, or nil if it is
// one of ours, or of the caller, already.
func reasonOf(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrClosed) {
		return ErrClosed
	}
	for _, reason := range all {
		if errors.Is(err, reason) {
			return nil
		}
	}
	var (
		status *StatusError
		large  *http.MaxBytesError
		dns    *net.DNSError
		late   net.Error
	)
	switch {
	case errors.As(err, &status), errors.Is(err, context.Canceled):
		return nil
	case errors.As(err, &large):
		return ErrTooLarge
	case errors.As(err, &dns):
		return ErrDNS
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &late) && late.Timeout():
		return ErrTimeout
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return ErrRefused
	default:
		return ErrBroken
	}
}
