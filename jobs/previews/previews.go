package previews

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"riverrun/jobs/fetch"
)

const (
	// maxPage is how many bytes of a page are read.
	maxPage = 512 << 10
	// MaxImage is the size of the largest picture, in bytes.
	MaxImage = 5 << 20
)

// ErrNothing: the page has neither a title nor a description nor a picture, or the picture is
// empty.
var ErrNothing = errors.New("the page says nothing of itself")

// Preview is what a page says of itself. All fields but Host may be empty, though not Title,
// Description and ImageURL all together.
type Preview struct {
	// Title, Description and SiteName have at most 200, 300 and 100 characters.
	Title, Description, SiteName string
	// Host is the host of the page, after all redirects, as it is shown to people: without
	// "www." and the port.
	Host string
	// ImageURL is the address of a picture for Image.
	ImageURL string
}

// Read reads the preview of an address. The preview of a picture has its Host and ImageURL
// alone.
//
// The error is ErrNothing or one of package fetch: *fetch.StatusError if the server refuses the
// page, and fetch.ErrType if it is neither HTML nor a picture.
func Read(ctx context.Context, client *fetch.Client, address string) (Preview, error) {
	response, err := client.Get(ctx, fetch.Request{
		URL:      address,
		Accept:   []string{"text/html", "application/xhtml+xml", "image/*"},
		MaxBytes: maxPage,
	})
	if err != nil {
		return Preview{}, err
	}
	defer response.Body.Close()
	host := shown(response.FinalURL)
	if strings.HasPrefix(response.Type, "image/") {
		return Preview{Host: host, ImageURL: response.FinalURL.String()}, nil
	}
	page, err := io.ReadAll(response.Body)
	if err != nil && !errors.Is(err, fetch.ErrTooLarge) { // the beginning of a page is enough
		return Preview{}, err
	}
	p := parse(page, response.Header.Get("Content-Type"), response.FinalURL)
	if p.Title == "" && p.Description == "" && p.ImageURL == "" {
		return Preview{}, fmt.Errorf("preview from %q: %w", host, ErrNothing)
	}
	p.Host = host
	return p, nil
}

// Image reads a picture of at most maxBytes, and of MaxImage in any case. The bytes are what the
// server sent: only its word says that they are a picture, and they must not be served as they
// are.
//
// The error is ErrNothing or one of package fetch: fetch.ErrTooLarge, and fetch.ErrType if the
// server does not call it a picture.
func Image(ctx context.Context, client *fetch.Client, address string, maxBytes int64) ([]byte, error) {
	response, err := client.Get(ctx, fetch.Request{URL: address, Accept: []string{"image/*"}, MaxBytes: min(maxBytes, MaxImage)})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	picture, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if len(picture) == 0 {
		return nil, fmt.Errorf("picture from %q: %w", shown(response.FinalURL), ErrNothing)
	}
	return picture, nil
}

// shown returns the host of an address for people. A name is shown in its own script
// only if its top-level domain is in that as well: "пример.рф", but "xn--80ak6aa92e.com", in
// which all letters look like those of "apple".
func shown(address *url.URL) string {
	host := strings.TrimPrefix(strings.ToLower(address.Hostname()), "www.")
	local, err := idna.Display.ToUnicode(host)
	if err != nil {
		return host
	}
	if r, _ := utf8.DecodeRuneInString(local[strings.LastIndexByte(local, '.')+1:]); r < utf8.RuneSelf {
		return host
	}
	return local
}
