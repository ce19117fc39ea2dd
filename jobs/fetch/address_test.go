package fetch

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// No connection is made for any of these links.
func TestHostileLinks(t *testing.T) {
	t.Parallel()
	answers := map[string][]string{
		"private.test":      {"10.0.0.1"},
		"private6.test":     {"fd00::1"},
		"both.test":         {"192.168.1.1 fe80::1 ::1"},
		"metadata.test":     {"169.254.169.254"},
		"mapped.test":       {"::ffff:127.0.0.1"},
		"rebound.test":      {"127.0.0.1", "10.0.0.1"},
		"odd.test":          {"93.184.216.34"},
		"127.0.0.1.test":    {"127.0.0.1"},
		"xn--e1afmkfd.test": {"127.0.0.1"},
	}
	for _, tt := range []struct {
		url  string
		want error
	}{
		// Addresses that are not public.
		{"http://127.0.0.1/", ErrForbidden},
		{"https://127.0.0.1/", ErrForbidden},
		{"http://127.255.255.254/", ErrForbidden},
		{"http://0.0.0.0/", ErrForbidden},
		{"http://0.1.2.3/", ErrForbidden},
		{"http://10.1.2.3/", ErrForbidden},
		{"http://100.64.0.1/", ErrForbidden},
		{"http://169.254.169.254/latest/meta-data/", ErrForbidden},
		{"http://172.16.0.1/", ErrForbidden},
		{"http://172.31.255.255/", ErrForbidden},
		{"http://192.168.0.1/", ErrForbidden},
		{"http://192.0.0.170/", ErrForbidden},
		{"http://198.18.0.1/", ErrForbidden},
		{"http://203.0.113.9/", ErrForbidden},
		{"http://224.0.0.1/", ErrForbidden},
		{"http://255.255.255.255/", ErrForbidden},
		{"http://[::1]/", ErrForbidden},
		{"http://[::]/", ErrForbidden},
		{"http://[0:0:0:0:0:0:0:1]/", ErrForbidden},
		{"http://[fe80::1]/", ErrForbidden},
		{"http://[fd00:ec2::254]/", ErrForbidden},
		{"http://[ff02::1]/", ErrForbidden},
		{"http://[2001:db8::1]/", ErrForbidden},
		// IPv4 inside IPv6: mapped, compatible, NAT64, 6to4, Teredo, translated.
		{"http://[::ffff:127.0.0.1]/", ErrForbidden},
		{"http://[::ffff:a9fe:a9fe]/", ErrForbidden},
		{"http://[::ffff:10.0.0.1]/", ErrForbidden},
		{"http://[::127.0.0.1]/", ErrForbidden},
		{"http://[64:ff9b::7f00:1]/", ErrForbidden},
		{"http://[64:ff9b:1::a00:1]/", ErrForbidden},
		{"http://[2002:7f00:1::]/", ErrForbidden},
		{"http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/", ErrForbidden},
		{"http://[::ffff:0:127.0.0.1]/", ErrForbidden},
		// Names of addresses that are not public.
		{"http://localhost/", ErrForbidden},
		{"http://LOCALHOST/", ErrForbidden},
		{"http://private.test/", ErrForbidden},
		{"https://private.test/", ErrForbidden},
		{"http://private6.test/", ErrForbidden},
		{"http://both.test/", ErrForbidden},
		{"http://metadata.test/", ErrForbidden},
		{"http://mapped.test/", ErrForbidden},
		{"http://rebound.test/", ErrForbidden},
		{"http://127.0.0.1.test/", ErrForbidden},
		{"http://пример.test/", ErrForbidden},
		{"http://①②⑦.⓪.⓪.①/", ErrForbidden},
		{"http://127。0。0。1/", ErrForbidden},
		// Other forms of 127.0.0.1.
		{"http://2130706433/", ErrInvalid},
		{"http://0x7f000001/", ErrInvalid},
		{"http://0X7F.1/", ErrInvalid},
		{"http://0177.0.0.1/", ErrInvalid},
		{"http://127.1/", ErrInvalid},
		{"http://127.0.0.1./", ErrInvalid},
		{"http://127.0.0.0x1/", ErrInvalid},
		{"http://127.0.0.08/", ErrInvalid},
		{"http://127%2e0.0.1/", ErrInvalid},
		{"http://[fe80::1%25eth0]/", ErrInvalid},
		{"http://[::ffff:127.0.0.1/", ErrInvalid},
		{`http://odd.test\@127.0.0.1/`, ErrInvalid},
		// Ports.
		{"http://93.184.216.34:22/", ErrForbidden},
		{"http://odd.test:8080/", ErrForbidden},
		{"https://odd.test:6379/", ErrForbidden},
		{"http://127.0.0.1:5432/", ErrForbidden},
		{"http://odd.test:0/", ErrInvalid},
		{"http://odd.test:65616/", ErrInvalid},
		{"http://odd.test:http/", ErrInvalid},
		// Addresses that are not of the web, or texts that are more than an address.
		{"file:///etc/passwd", ErrInvalid},
		{"gopher://odd.test:70/_", ErrInvalid},
		{"data:text/html,<title>x</title>", ErrInvalid},
		{"javascript:alert(1)", ErrInvalid},
		{"ftp://odd.test/", ErrInvalid},
		{"unix:///run/docker.sock", ErrInvalid},
		{"http://user:password@odd.test/", ErrInvalid},
		{"http://user@odd.test/", ErrInvalid},
		{"http://@odd.test/", ErrInvalid},
		{"//odd.test/", ErrInvalid},
		{"odd.test", ErrInvalid},
		{"", ErrInvalid},
		{"http:///path", ErrInvalid},
		{"http://:80/", ErrInvalid},
		{"http:odd.test", ErrInvalid},
		{"http://odd.test/\r\nHost: other.test", ErrInvalid},
		{"http://odd.test/\x00", ErrInvalid},
		{"http://odd.test/" + strings.Repeat("a", maxAddress), ErrInvalid},
		{"http://\u202eodd.test/", ErrInvalid},
		{"http://nowhere.test/", ErrDNS},
		{"http://" + strings.Repeat("a", 300) + ".test/", ErrDNS},
	} {
		c, dialled := newClient(t, Config{}, answers)
		_, err := c.Get(t.Context(), Request{URL: tt.url, MaxBytes: 1})
		if !errors.Is(err, tt.want) {
			t.Errorf("Get(%.60q): got %v, want %v", tt.url, err, tt.want)
		}
		if got := dialled.all(); len(got) > 0 {
			t.Errorf("Get(%.60q): connected to %q", tt.url, got)
		}
		if err != nil && (strings.Contains(err.Error(), "password") || strings.Contains(err.Error(), "meta-data")) {
			t.Errorf("Get(%.60q): the error repeats the address: %v", tt.url, err)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://example.org/a?b=c":       "https://example.org/a?b=c",
		"HTTP://Example.org:80":           "http://Example.org:80",
		"http://ПРИМЕР.рф:8080/":          "http://xn--e1afmkfd.xn--p1ai:8080/",
		"http://my_site.example.org./":    "http://my_site.example.org./",
		"http://0x7f.example.org/":        "http://0x7f.example.org/",
		"http://[2606:2800:220:1::1]:80/": "http://[2606:2800:220:1::1]:80/",
	} {
		if u, err := parse(in); err != nil || u.String() != want {
			t.Errorf("parse(%q): got %v, %v, want %q", in, u, err, want)
		}
	}
}

func TestParseAllow(t *testing.T) {
	t.Parallel()
	prefixes := func(texts ...string) (p []netip.Prefix) {
		for _, text := range texts {
			p = append(p, netip.MustParsePrefix(text))
		}
		return p
	}
	for _, tt := range []struct {
		in   string
		want []netip.Prefix
		err  string
	}{
		{in: ""},
		{in: " , "},
		{in: "10.1.0.0/16", want: prefixes("10.1.0.0/16")},
		{in: "10.1.2.3/8, 192.0.2.7\tfd00::/8\n", want: prefixes("10.0.0.0/8", "192.0.2.7/32", "fd00::/8")},
		{in: "::1 ::ffff:172.16.0.0/108", want: prefixes("::1/128", "172.16.0.0/12")},
		{in: "10.0.0.0/8;127.0.0.1", err: `"10.0.0.0/8;127.0.0.1": want networks`},
		{in: "10.0.0.0/8 intranet", err: `"intranet": want networks`},
		{in: "10.0.0.0/33", err: `"10.0.0.0/33": want networks`},
		{in: "fe80::1%eth0", err: `"fe80::1%eth0": want networks`},
		{in: "127.0.0.1 0.0.0.0/0", err: `"0.0.0.0/0": that is every address`},
		{in: "::/0", err: `"::/0": that is every address`},
		{in: "::ffff:0.0.0.0/96", err: "that is every address"},
	} {
		got, err := ParseAllow(tt.in)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("ParseAllow(%q): got error %v, want %q", tt.in, err, tt.err)
		}
		if diff := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("ParseAllow(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}
