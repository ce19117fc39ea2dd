package formats

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/url"
)

func isFatal(err error, c Code) bool {
	var f *Fatal
	return errors.As(err, &f) && f.Code == c
}

func mustURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

func compressed(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}
