package breached

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.String("update", "", "write passwords.bin anew from this `file`: a password a line, the most common first")

// most is how many passwords of the file are taken.
const most = 100_000

// famous are passwords that were published as examples of good ones, and are tried since.
var famous = []string{"correcthorsebatterystaple", "Tr0ub4dor&3"}

// encode returns the list of the first n passwords of r that are long enough, and of those
// that are also named.
func encode(r io.Reader, n int, also ...string) ([]byte, error) {
	hashes := map[[size]byte]bool{}
	lines := bufio.NewScanner(r)
	for len(hashes) < n && lines.Scan() {
		if utf8.RuneCountInString(lines.Text()) >= shortest {
			hashes[hashOf(lines.Text())] = true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(hashes) < n {
		return nil, fmt.Errorf("%d passwords of %d characters or more, want %d", len(hashes), shortest, n)
	}
	for _, password := range also {
		hashes[hashOf(password)] = true
	}
	var sorted []byte
	for _, hash := range slices.SortedFunc(maps.Keys(hashes), func(a, b [size]byte) int { return bytes.Compare(a[:], b[:]) }) {
		sorted = append(sorted, hash[:]...)
	}
	return sorted, nil
}

// Passwords of all ranks are in the list, and those that come after the last are not.
func TestList(t *testing.T) {
	t.Parallel()
	if *update != "" {
		file, err := os.Open(*update)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		made, err := encode(file, most, famous...)
		if err != nil {
			t.Fatalf("%s: %v", *update, err)
		}
		if err := os.WriteFile("passwords.bin", made, 0o644); err != nil {
			t.Fatal(err)
		}
		list = string(made)
	}
	if got, want := len(list), (most+len(famous))*size; got != want {
		t.Errorf("the list has %d bytes, want %d", got, want)
	}
	for i := size; i+size <= len(list); i += size {
		if list[i-size:i] >= list[i:i+size] {
			t.Fatalf("hash %d: %x follows %x, want them sorted and each once", i/size, list[i:i+size], list[i-size:i])
		}
	}
	in := append([]string{"password", "12345678", "trustno1", "babygirl", "deeznutz", "18051978", "starburs", "millonario", "trek5500", "sexonthe", "krav5019", "35573557", "smokey42", "smokey24"}, famous...)
	for _, password := range in {
		for _, p := range []string{password, strings.ToUpper(password)} {
			if !Has(p) {
				t.Errorf("Has(%q): got false, want true", p)
			}
		}
	}
	for _, password := range []string{"", "123456", "dragon", "passwort\x00", "smokey212", "smokey18", "vidaloka1", "xenia1999", "vjht0409"} {
		if Has(password) {
			t.Errorf("Has(%q): got true, want false", password)
		}
	}
}

// Random passwords are not taken for common ones.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		if password := fmt.Sprintf("%016x", random.Uint64()); Has(password) {
			t.Errorf("Has(%q): got true, want false", password)
		}
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	const lines = "short\nPassword\npassword\nсеребро\nсеребром\nbeyond the end\n"
	got, err := encode(strings.NewReader(lines), 2, "and this")
	if err != nil {
		t.Fatal(err)
	}
	var want [][]byte
	for _, password := range []string{"password", "серебром", "and this"} {
		hash := hashOf(password)
		want = append(want, hash[:])
	}
	slices.SortFunc(want, bytes.Compare)
	if !bytes.Equal(got, bytes.Join(want, nil)) {
		t.Errorf("encode(%q): got %x, want %x", lines, got, want)
	}
	if _, err := encode(strings.NewReader(lines), 4); err == nil {
		t.Errorf("encode(%q) of 4 passwords: got no error, want one: there are 3", lines)
	}
}

func BenchmarkHas(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Has("A long enough one")
	}
}
