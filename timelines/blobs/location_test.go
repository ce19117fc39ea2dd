package blobs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseLocation(t *testing.T) {
	t.Parallel()
	aws := map[string]string{"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "env/hidden"}
	for _, tt := range []struct {
		setting string
		env     map[string]string
		want    Location
		shown   string
	}{
		{"", nil, Location{}, ""},
		{"/srv/blobs", aws, Location{dir: "/srv/blobs"}, "/srv/blobs"},
		{"blobs", nil, Location{dir: "blobs"}, "blobs"},
		{
			"s3://KEY:hid%2Fden@s3.example.org/bucket", aws,
			Location{host: "s3.example.org", bucket: "bucket", key: "KEY", secret: "hid/den"},
			"s3://s3.example.org/bucket",
		},
		{
			"s3://KEY:hid+den@127.0.0.1:9000/bucket/a/b/?region=eu-north-1&insecure=1", nil,
			Location{host: "127.0.0.1:9000", bucket: "bucket", prefix: "a/b", region: "eu-north-1", key: "KEY", secret: "hid+den", insecure: true},
			"s3://127.0.0.1:9000/bucket/a/b",
		},
		{
			"s3://s3.example.org/bucket/?insecure=0", aws,
			Location{host: "s3.example.org", bucket: "bucket", key: "ENV", secret: "env/hidden"},
			"s3://s3.example.org/bucket",
		},
	} {
		got, err := ParseLocation(tt.setting, env(tt.env))
		if err != nil {
			t.Errorf("ParseLocation(%q): %v", tt.setting, err)
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(Location{})); diff != "" {
			t.Errorf("ParseLocation(%q) (-want +got):\n%s", tt.setting, diff)
		}
		for _, shown := range []string{got.String(), fmt.Sprintf("%v", got), fmt.Sprintf("%+v", got)} {
			if shown != tt.shown {
				t.Errorf("ParseLocation(%q) is shown as %q, want %q", tt.setting, shown, tt.shown)
			}
		}
	}
}

func TestBadLocationsAreClearErrorsWithoutTheSecret(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"https://KEY:hidden@host/bucket":               "want the path of a directory, or s3://",
		"s3://KEY:hidden@host":                         "want s3://key:secret@host/bucket",
		"s3://KEY:hidden@host/":                        "want s3://key:secret@host/bucket",
		"s3://KEY:hidden@/bucket":                      "want s3://key:secret@host/bucket",
		"s3://KEY:hidden/x@host/bucket":                "in the secret written %2F",
		"s3://KEY:hidden%@host/bucket":                 "want s3://key:secret@host/bucket",
		"s3://KEY:hidden@host/bucket?a=%":              "want s3://key:secret@host/bucket",
		"s3://KEY:hidden@host/bucket?a;b":              "want s3://key:secret@host/bucket",
		"s3://KEY:hidden@host/bucket#x":                "want s3://key:secret@host/bucket",
		"s3://host/bucket":                             "no key or no secret",
		"s3://KEY@host/bucket":                         "no key or no secret",
		"s3://:hidden@host/bucket":                     "no key or no secret",
		"s3://KEY:hidden@host/bucket?regoin=eu":        `no such option: "regoin"`,
		"s3://KEY:hidden@host/bucket?insecure=perhaps": "want insecure=1",
	} {
		got, err := ParseLocation(setting, env(nil))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("ParseLocation(%q): got %v, want %q", setting, err, want)
		}
		if diff := cmp.Diff(Location{}, got, cmp.AllowUnexported(Location{})); diff != "" {
			t.Errorf("ParseLocation(%q) with an error (-want +got):\n%s", setting, diff)
		}
	}
}

func TestALocationThatCannotBeOpenedIsAClearError(t *testing.T) {
	t.Parallel()
	refusing := func(method string) string {
		host, _, _ := serve(t, between(func(r request, w http.ResponseWriter, serve func()) {
			if r.method == method && strings.Contains(r.key, temporary) {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			serve()
		}))
		return host + "/site"
	}
	healthy, _, _ := serve(t, nil)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, tt := range []struct{ setting, want string }{
		{file, "directory of blobs: "},
		{file + "/below", "directory of blobs: "},
		{"/proc/blobs", "directory of blobs: "},
		{"s3://KEY:hidden@" + healthy + "/other?insecure=1", "bucket other at " + healthy + ": it does not exist"},
		{"s3://KEY:hidden@" + healthy + "/site", "bucket site at " + healthy + ": look for it: "}, // which needs insecure=1
		{"s3://KEY:hidden@" + healthy + "/B?insecure=1", "bucket B at " + healthy + ": "},
		{"s3://KEY:hidden@" + gone.Listener.Addr().String() + "/site?insecure=1", ": look for it: "},
		{"s3://KEY:hidden@" + refusing(http.MethodPut) + "?insecure=1", ": write into it: "},
		{"s3://KEY:hidden@" + refusing(http.MethodHead) + "?insecure=1", ": read from it: "},
		{"s3://KEY:hidden@" + refusing(http.MethodDelete) + "?insecure=1", ": delete from it: "},
	} {
		location, err := ParseLocation(tt.setting, env(nil))
		must(t, err)
		store, err := location.Open(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("Open(%q): got %v, want %q", tt.setting, err, tt.want)
		}
		if store != nil {
			t.Errorf("Open(%q): got a store with an error", tt.setting)
		}
	}
}

func TestTheDefaultDirectoryIsForTheEmptySettingOnly(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	for setting, want := range map[string]string{"": other, dir: dir} {
		location, err := ParseLocation(setting, env(nil))
		must(t, err)
		store, err := location.Open(t.Context(), other)
		must(t, err)
		if got := store.(*directory).root; got != want {
			t.Errorf("%q opens %q, want %q", setting, got, want)
		}
	}
}
