package language

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
)

func TestDetect(t *testing.T) {
	for _, tt := range []struct{ want, text string }{
		{"en", "First crossing 6:40, last 21:10, bell on the post if I am on the wrong bank."},
		{"en", "The council notes with regret that it slept in."},
		{"en", "See https://пример.рф/путь/который/длиннее/всего/остального, @anna: the water is high today #река"},
		{"ru", "Приём в среду переносится на четверг: мост закрыт до вечера."},
		{"ru", "ВЫХОДНЫЕ НА РЕКЕ"},
		{"ru", "Сегодня купил iPhone, и поставил на него Linux, ещё один"},
		{"", ""},
		{"", "12345 :-)"},
		{"", "lol"},
		{"", "Да"},
		{"", "https://example.org/the/water/is/high/today #the_water_is_high_today @the-water-is-high"},
		{"", "Ще не вмерла України і слава, і воля"},
		{"", "Днес времето е хубаво и отиваме на разходка край реката с децата."},
		{"", "Данас је лепо време и идемо у шетњу поред реке са децом."},
		{"", "Сёння добрае надвор'е, і мы ідзём гуляць з дзецьмі."},
		{"", "Қайырлы таң достар, бүгін ауа райы жақсы ы"},
		{"", "Bonjour tout le monde, comment allez-vous aujourd'hui?"},
		{"", "Guten Morgen, wie geht es Ihnen heute? Das Wetter ist schön und wir gehen spazieren."},
		{"", "Dzień dobry wszystkim"},
		{"", "日本語のテキストです、とても短いです"},
	} {
		if got := Detect(tt.text); got != tt.want {
			t.Errorf("Detect(%q): got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// A text for which Detect returns nothing can be in the languages that its letters allow.
func TestFits(t *testing.T) {
	for _, tt := range []struct{ want, text string }{
		{"en", "Lunch ! :)"},
		{"en", "PT16: Saharon Rosset - Grouped Graphical Granger Modeling"},
		{"en", "On naïve Bayes, by Michał Nowak: a workshop on inference"},
		{"ru", "Да"},
		{"ru", "Nokia N900: обзор телефона"},
		{"en ru", "https://example.org/the/water/is/high/today"},
		{"en ru", "#ферма :-)"},
		{"en ru", ""},
		{"", "Schönes Wetter heute"},
		{"", "Dzień dobry wszystkim"},
		{"", "Ще не вмерла України і слава"},
		{"", "日本語"},
		{"", "صور رومانسيه"},
		{"", "Buongiorno a tutti, questa mattina abbiamo camminato lungo il fiume fino al vecchio mulino e poi siamo tornati a casa per il pranzo insieme agli amici."},
	} {
		if got := strings.Join(Fits(tt.text), " "); got != tt.want {
			t.Errorf("Fits(%q): got %q, want %q", tt.text, got, tt.want)
		}
		if got := Detect(tt.text); got != "" {
			t.Errorf("Detect(%q): got %q, want nothing", tt.text, got)
		}
	}
}

// The demo's people write in English and Russian, often briefly. The language of many
// lines is found, and next to none are wrong.
func TestDetectInTheDemo(t *testing.T) {
	raw, err := os.ReadFile("../../cmd/riverrun/town.json")
	if err != nil {
		t.Fatal(err)
	}
	type Said struct{ Text string }
	var town struct {
		Posts []struct {
			Said
			Comments []Said
		}
	}
	if err := json.Unmarshal(raw, &town); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range town.Posts {
		texts = append(texts, strings.Split(p.Text, "\n")...)
		for _, c := range p.Comments {
			texts = append(texts, c.Text)
		}
	}
	right, wrong, lines := map[string]int{}, 0, map[string]int{}
	for _, text := range texts {
		want := "en"
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
			want = "ru"
		}
		lines[want]++
		switch got := Detect(text); got {
		case want:
			right[want]++
		case "":
		default:
			wrong++
			t.Logf("%q: got %s", text, got)
		}
	}
	t.Logf("right %v of %v, wrong %d", right, lines, wrong)
	if wrong > 1 || right["en"] < lines["en"]/2 || right["ru"] < lines["ru"]/2 {
		t.Errorf("right %v of %v, wrong %d", right, lines, wrong)
	}
}

func BenchmarkDetect(b *testing.B) {
	for name, text := range map[string]string{
		"line": "The council notes with regret that it slept in.",
		"long": strings.Repeat("The council notes with regret that it slept in. ", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Detect(text)
			}
		})
	}
}
