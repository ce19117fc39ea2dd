package blobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// Location says where blobs are kept. The zero Location is the default directory.
type Location struct {
	dir string
	// The rest is set for a bucket only.
	host, bucket, prefix, region string
	key, secret                  string
	insecure                     bool
}

// errWantBucket does not quote the setting, which has a secret.
var errWantBucket = errors.New("want s3://key:secret@host/bucket/prefix?region=…, " +
	"with / in the secret written %2F, or without key and secret if AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set")

// ParseLocation reads an operator's setting:
//
//	                                      the default directory
//	/srv/blobs                            a directory
//	s3://key:secret@host/bucket/prefix    a bucket; the prefix may be left out
//
// The key and the secret may be left out if the environment, which lookup reads, has
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. host may have a port. region=… names the
// bucket's region, which is asked for otherwise. insecure=1 speaks HTTP without TLS.
//
// Errors say what is wrong, and do not repeat the secret.
func ParseLocation(setting string, lookup func(string) (string, bool)) (Location, error) {
	scheme, _, isURL := strings.Cut(setting, "://")
	if !isURL {
		return Location{dir: setting}, nil
	}
	if scheme != "s3" {
		return Location{}, errors.New("want the path of a directory, or s3://…")
	}
	u, err := url.Parse(setting)
	if err != nil {
		return Location{}, errWantBucket
	}
	l := Location{host: u.Host}
	l.bucket, l.prefix, _ = strings.Cut(strings.Trim(u.Path, "/"), "/")
	if l.host == "" || l.bucket == "" || u.Fragment != "" {
		return Location{}, errWantBucket
	}
	if u.User != nil {
		l.key = u.User.Username()
		l.secret, _ = u.User.Password()
	} else {
		l.key, _ = lookup("AWS_ACCESS_KEY_ID")
		l.secret, _ = lookup("AWS_SECRET_ACCESS_KEY")
	}
	if l.key == "" || l.secret == "" {
		return Location{}, fmt.Errorf("no key or no secret: %w", errWantBucket)
	}
	if err := l.setOptions(u.RawQuery); err != nil {
		return Location{}, err
	}
	return l, nil
}

func (l *Location) setOptions(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errWantBucket
	}
	for name, all := range values {
		switch value := all[0]; name {
		case "region":
			l.region = value
		case "insecure":
			if l.insecure, err = strconv.ParseBool(value); err != nil {
				return fmt.Errorf("want insecure=1 or insecure=0, not %q", value)
			}
		default:
			return fmt.Errorf("no such option: %q; there are region and insecure", name)
		}
	}
	return nil
}

// String returns the location for people and the log, without key and secret.
func (l Location) String() string {
	if l.bucket == "" {
		return l.dir
	}
	return strings.TrimSuffix("s3://"+l.host+"/"+l.bucket+"/"+l.prefix, "/")
}

// Open opens the store at the location. A directory is made, for its owner alone, if it
// does not exist; defaultDir is the path of the default one. A bucket must exist. It is an
// error if the store cannot be written, or not reached before ctx ends. ctx is for Open
// alone. A store needs no closing.
func (l Location) Open(ctx context.Context, defaultDir string) (Store, error) {
	if l.bucket != "" {
		b, err := openBucket(ctx, l)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	d, err := openDirectory(l.Directory(defaultDir))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// At returns the store at the location and changes nothing: no directory is made, and whether the
// store is there and can be written is left to its Probe.
func (l Location) At(defaultDir string) (Store, error) {
	if l.bucket != "" {
		b, err := newBucket(l)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	return &directory{root: l.Directory(defaultDir), sync: (*os.File).Sync}, nil
}

// Directory returns the path of the store's directory; empty for a bucket.
func (l Location) Directory(defaultDir string) string {
	if l.bucket != "" {
		return ""
	}
	return cmp.Or(l.dir, defaultDir)
}
