package timelines

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
)

func TestPasswordHash(t *testing.T) {
	t.Parallel()
	s := Open(nil, nil, DefaultOptions())
	hash, err := s.hashPassword(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if want := "$argon2id$v=19$m=19456,t=2,p=1$"; !strings.HasPrefix(hash, want) {
		t.Errorf("hash: got %q, want it to begin with %q", hash, want)
	}
	if other, err := s.hashPassword(t.Context(), "correct horse"); err != nil || other == hash {
		t.Errorf("the same password again: got %q, %v; want another salt", other, err)
	}
	// Made when computers were slower.
	cheap := Open(nil, nil, DefaultOptions())
	cheap.opts.HashCost.Memory = 64
	old, err := cheap.hashPassword(t.Context(), "correct horse")
	if err != nil || !strings.HasPrefix(old, "$argon2id$v=19$m=64,t=2,p=1$") {
		t.Fatalf("a cheap hash: %q, %v", old, err)
	}
	for _, tc := range []struct {
		name, password, hash string
		want                 bool
	}{
		{"right", "correct horse", hash, true},
		{"wrong", "correct house", hash, false},
		{"empty", "", hash, false},
		{"nobody's", "correct horse", "", false},
		{"longer than any", strings.Repeat("a", 1<<20), hash, false},
		{"of another cost", "correct horse", old, true},
	} {
		if got, err := s.verifyPassword(t.Context(), tc.password, tc.hash); got != tc.want || err != nil {
			t.Errorf("%s: verify: got %v, %v; want %v", tc.name, got, err, tc.want)
		}
	}
}

func TestCommonPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		password string
		about    []string
		want     string
	}{
		{"password", nil, "password_common"},
		{"Password1", nil, "password_common"},
		{"qwertyui", nil, "password_common"},
		{"йцукенгш", nil, "password_common"},
		{"Пароль123", nil, "password_common"},
		{"iloveyou", nil, "password_common"},
		{"p@ssw0rd", nil, "password_common"},
		{"krav5019", nil, "password_common"}, // in the list, and in no other
		{"smokey-42", nil, "password_common"},
		{"correcthorsebatterystaple", nil, "password_common"},
		{"Correct Horse Battery Staple!", nil, "password_common"},
		{"passwordpasswordpass", nil, "password_common"},
		{"riverrun", nil, "password_common"},
		{"riverrun1", nil, "password_common"},
		{"riverrun-riverrun-2026", nil, "password_common"},
		{"12345678", nil, "password_pattern"},
		{"987654321", nil, "password_pattern"},
		{"1234567890", nil, "password_pattern"},
		{"абвгдежз", nil, "password_pattern"},
		{"abcd4321", nil, "password_pattern"},
		{"aaaabbbb", nil, "password_pattern"},
		{"aaaaaaaaaaaa", nil, "password_pattern"},
		{"abcdabcdabcd", nil, "password_pattern"},
		{"12121212", nil, "password_pattern"},
		{"Mju7mJu7mjU", nil, "password_pattern"},
		{strings.Repeat("x", 200), nil, "password_pattern"},
		{"anna-maria", []string{"anna-maria", "Anna"}, "password_name"},
		{"annamaria", []string{"anna-maria", "Anna"}, "password_name"},
		{"Wondraschek", []string{"anna", "Anna Wondraschek"}, "password_name"},
		{"annawondraschek", []string{"anna", "Anna Wondraschek"}, "password_name"},
		{"kehcsardnow", []string{"anna", "Anna Wondraschek"}, "password_name"},
		{"annaannaanna", []string{"anna", "Anna"}, "password_name"},
		{"Anna+Anna", []string{"anna", "Anna"}, "password_name"},
		{"!anna1987!", []string{"anna", "Anna"}, "password_name"},
		{"Пётр1987", []string{"peter", "Пётр Ильич"}, "password_name"},
		{"Wondraschek", []string{"bob", "Bob"}, ""},
		{"anna, who sails at night", []string{"anna", "Anna"}, ""},
		{"anna+72#8031%64", []string{"anna", "Anna"}, ""},
		{"a long enough one", []string{"anna", "Anna"}, ""},
		{"correct horse", nil, ""},
		{"plum tart plum tart", nil, ""},
		{"four wet bicycles under one bridge", nil, ""},
		{"тёплый-плед-42", []string{"anna", "Анна"}, ""},
		{"яяяяяяяя1ю", nil, ""},
		{"password\xff", nil, "text_invalid"},
		{"1234567", nil, "password_short"},
	} {
		got := ""
		var bad *InvalidError
		if err := checkPassword(tc.password, tc.about...); errors.As(err, &bad) {
			got = bad.Code
		}
		if got != tc.want {
			t.Errorf("checkPassword(%q, %q): got %q, want %q", tc.password, tc.about, got, tc.want)
		}
	}
}

// FuzzGuessed: whatever is taken as a password, the answer comes, and soon.
func FuzzGuessed(f *testing.F) {
	for _, seed := range []string{"password", "İİİİıı", "\u0130a", strings.Repeat("@4(1!|", 40), "яяяя1ю", "1991-12-31", "\xff\xfe", "aaa", "𝒜𝒜𝒜𝒜"} {
		f.Add(seed, "anna", "Anna")
	}
	f.Fuzz(func(t *testing.T, password, name, title string) {
		_ = checkPassword(password, name, title)
	})
}

func BenchmarkGuessed(b *testing.B) {
	worst := strings.Repeat("p@$$w0rd!1|3", MaxPasswordRunes/12)
	for b.Loop() {
		guessed(worst, strings.Repeat("a b ", 25))
	}
}

// One phone sends an accented letter as one character, another as two.
func TestPasswordIsTheSameOnEveryKeyboard(t *testing.T) {
	t.Parallel()
	s := Open(nil, nil, DefaultOptions())
	hash, err := s.hashPassword(t.Context(), "caf\u00e9 au lait")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := s.verifyPassword(t.Context(), "cafe\u0301 au lait", hash); !ok || err != nil {
		t.Errorf("verify the decomposed password: got %v, %v; want true", ok, err)
	}
}

// The memory of hashing is bounded: a full house waits, and goes when its
// visitor does. An unknown name waits in the same queue, for it does the same
// work.
func TestHashingIsBounded(t *testing.T) {
	t.Parallel()
	s := Open(nil, nil, DefaultOptions())
	hash, err := s.hashPassword(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for range cap(s.hashing.slots) {
		s.hashing.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, h := range []string{hash, ""} {
		if _, err := s.verifyPassword(ctx, "correct horse", h); err != context.Canceled {
			t.Errorf("verify against %q in a full house: got %v, want %v", h, err, context.Canceled)
		}
	}
	for range cap(s.hashing.slots) {
		<-s.hashing.slots
	}
	if ok, err := s.verifyPassword(t.Context(), "correct horse", hash); !ok || err != nil {
		t.Errorf("verify in an empty house: got %v, %v; want true", ok, err)
	}
}

// The queue of passwords is bounded too, and does not take all processors.
func TestHashingRefusesACrowd(t *testing.T) {
	t.Parallel()
	s := Open(nil, nil, DefaultOptions())
	if got, most := cap(s.hashing.slots), max(runtime.GOMAXPROCS(0)/2, 1); got > most {
		t.Errorf("%d passwords are hashed at once, want %d at most of %d processors", got, most, runtime.GOMAXPROCS(0))
	}
	for range cap(s.hashing.slots) {
		s.hashing.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	for range cap(s.hashing.inside) {
		go func() {
			_, err := s.verifyPassword(ctx, "correct horse", "")
			waiting <- err
		}()
	}
	for len(s.hashing.inside) < cap(s.hashing.inside) {
		runtime.Gosched()
	}
	if _, err := s.verifyPassword(ctx, "correct horse", ""); !errors.Is(err, ErrBusy) {
		t.Errorf("one more than may wait: got %v, want %v", err, ErrBusy)
	}
	if _, err := s.hashPassword(ctx, "correct horse"); !errors.Is(err, ErrBusy) {
		t.Errorf("a new password meanwhile: got %v, want %v", err, ErrBusy)
	}
	cancel()
	for range cap(s.hashing.inside) {
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("one that waited: got %v, want %v", err, context.Canceled)
		}
	}
	for range cap(s.hashing.slots) {
		<-s.hashing.slots
	}
	if _, err := s.verifyPassword(t.Context(), "correct horse", ""); err != nil {
		t.Errorf("when they have gone: %v", err)
	}
}

func TestAHashThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	s := Open(nil, nil, DefaultOptions())
	const good = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA"
	if ok, err := s.verifyPassword(t.Context(), "correct horse", good); ok || err != nil {
		t.Errorf("another password: got %v, %v; want false", ok, err)
	}
	for _, hash := range []string{
		"$", "secret", "$2b$10$N9qo8uLOickgx2ZMRZoMye",
		strings.Replace(good, "argon2id", "argon2i", 1),
		strings.Replace(good, "v=19", "v=16", 1),
		strings.Replace(good, "t=1", "t=0", 1),
		strings.Replace(good, "t=1", "t=4294967295", 1),
		strings.Replace(good, "p=1", "p=0", 1),
		strings.Replace(good, "m=64", "m=99999999", 1),
		strings.Replace(good, "m=64,", "", 1),
		strings.Replace(good, "c29tZXNhbHQ", "c29", 1),
		strings.Replace(good, "c29tZXNhbHQ", "!", 1),
		good[:len(good)-10],
		good + "$more",
	} {
		if ok, err := s.verifyPassword(t.Context(), "correct horse", hash); ok || err == nil {
			t.Errorf("verify against %q: got %v, %v; want an error", hash, ok, err)
		}
	}
}

func TestRepeated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a": "a", "ab": "ab", "aa": "a", "abcabcab": "abc", "abcab": "abcab", "aabaab": "aab", "aabaabb": "aabaabb", "яюяю": "яю",
	} {
		if got := string(repeated([]rune(text))); got != want {
			t.Errorf("repeated(%q): got %q, want %q", text, got, want)
		}
	}
}

// However a password is made up, judging it takes no longer than some hashes do.
func TestGuessingIsBounded(t *testing.T) {
	const signs = "1<{85!2+[037$94|(@%6"
	began := time.Now()
	if _, err := argon2id.CreateHash(signs, &recommendedCost); err != nil {
		t.Fatal(err)
	}
	hash := time.Since(began)
	for _, password := range []string{
		signs + signs, signs[:maxRespelled], signs[:maxRespelled+1],
		strings.Repeat(signs, MaxPasswordRunes/len(signs)), strings.Repeat("ab", MaxPasswordRunes/2-1) + "ba",
	} {
		began := time.Now()
		_ = checkPassword(password, "ann", strings.Repeat("a b ab aba ", 100_000))
		if took := time.Since(began); took > 20*hash {
			t.Errorf("%q: took %v, a hash %v", password, took, hash)
		}
	}
}
