package timelines

import (
	"crypto/rand"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// TestNewCode (G5): codes are random and each has its check character.
func TestNewCode(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{10}$`) // the posts_code constraint
	seen := map[string]bool{}
	for range 2000 {
		code := newCode()
		if !form.MatchString(code) {
			t.Fatalf("newCode: got %q, want %s", code, form)
		}
		if got, ok := ParseCode(code); !ok || got != code {
			t.Fatalf("ParseCode(%q): got %q, %v; want it as it is", code, got, ok)
		}
		if seen[code] {
			t.Fatalf("newCode: got %q twice in 2000", code)
		}
		seen[code] = true
	}
}

// taken draws a code that stands already, and then random ones.
type taken struct {
	io.Reader
	code  []byte
	drawn atomic.Int64
}

func (r *taken) Read(b []byte) (int, error) {
	if len(b) == len(r.code) && r.drawn.Add(1) == 1 {
		return copy(b, r.code), nil
	}
	return r.Reader.Read(b)
}

// TestATakenCodeIsDrawnAgain (G5): if the drawn code is taken, the post gets another.
func TestATakenCodeIsDrawnAgain(t *testing.T) {
	w := newTownAlone(t) // everybody draws from the same reader
	ann := w.user("ann")
	first, err := w.Posts.Create(t.Context(), NewPost{Author: ann.ID, Body: "one"})
	w.must(err)
	r := &taken{Reader: rand.Reader}
	for _, c := range []byte(first.Code[:codeLength-1]) {
		r.code = append(r.code, byte(strings.IndexByte(codeAlphabet, c)))
	}
	rand.Reader = r
	defer func() { rand.Reader = r.Reader }()
	second, err := w.Posts.Create(t.Context(), NewPost{Author: ann.ID, Body: "two"})
	w.must(err)
	if second.Code == first.Code || r.drawn.Load() < 2 {
		t.Errorf("codes %q and %q after %d draws", first.Code, second.Code, r.drawn.Load())
	}
}

// TestCheckDigitFindsSlips (G5): a mistyped character is never another post; two exchanged ones nearly never.
func TestCheckDigitFindsSlips(t *testing.T) {
	t.Parallel()
	missed := 0
	for range 200 {
		code := newCode()
		for i := range code {
			for _, c := range []byte(codeAlphabet) {
				slip := code[:i] + string(c) + code[i+1:]
				if _, ok := ParseCode(slip); ok && slip != code {
					t.Fatalf("ParseCode(%q), a slip of %q: got a code, want none", slip, code)
				}
			}
			if i == 0 || code[i] == code[i-1] {
				continue
			}
			slip := code[:i-1] + string(code[i]) + string(code[i-1]) + code[i+1:]
			if _, ok := ParseCode(slip); !ok {
				continue
			}
			if missed++; !strings.Contains(codeAlphabet[:1]+codeAlphabet[31:], code[i:i+1]) {
				t.Errorf("ParseCode(%q), two characters of %q exchanged: got a code, want none but for 0 and z", slip, code)
			}
		}
	}
	if missed > 30 {
		t.Errorf("exchanges of neighbours missed: got %d of 1800, want a handful", missed)
	}
}

func TestParseCode(t *testing.T) {
	t.Parallel()
	digits := []byte{0, 1, 1, 0, 31, 16, 8, 4, 2}
	code := "0110zg842" + string(codeAlphabet[checkDigit(digits)])
	for in, want := range map[string]string{
		code:                            code,
		strings.ToUpper(code):           code,
		"oIl0-ZG84-2" + code[9:]:        code,
		"":                              "",
		code[:9]:                        "",
		code + "0":                      "",
		"u" + code[1:]:                  "",
		" " + code:                      "",
		"п" + code[1:]:                  "",
		code + strings.Repeat("-", 100): "",
	} {
		got, ok := ParseCode(in)
		if got != want || ok != (want != "") {
			t.Errorf("ParseCode(%.40q): got %q, %v; want %q", in, got, ok, want)
		}
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add(newCode())
	f.Add("OIL-")
	f.Fuzz(func(t *testing.T, in string) {
		code, ok := ParseCode(in)
		if !ok {
			return
		}
		if again, ok := ParseCode(code); !ok || again != code || len(code) != codeLength {
			t.Errorf("ParseCode(%q) = %q, and that: got %q, %v; want it unchanged", in, code, again, ok)
		}
	})
}
