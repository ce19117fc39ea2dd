package view

import (
	"testing"
	"time"

	"riverrun/timelines"
)

func TestIn(t *testing.T) {
	for _, tt := range []struct {
		d      time.Duration
		en, ru string
		round  time.Duration
	}{
		{0, "in 1 second", "через 1 секунду", time.Second},
		{time.Nanosecond, "in 1 second", "через 1 секунду", time.Second},
		{1500 * time.Millisecond, "in 2 seconds", "через 2 секунды", 2 * time.Second},
		{19*time.Second + 1, "in 20 seconds", "через 20 секунд", 20 * time.Second},
		{59 * time.Second, "in 59 seconds", "через 59 секунд", 59 * time.Second},
		{59*time.Second + 1, "in 1 minute", "через 1 минуту", time.Minute},
		{61 * time.Second, "in 2 minutes", "через 2 минуты", 2 * time.Minute},
		{12 * time.Minute, "in 12 minutes", "через 12 минут", 12 * time.Minute},
		{59*time.Minute + 30*time.Second, "in 1 hour", "через 1 час", time.Hour},
		{time.Hour + 1, "in 2 hours", "через 2 часа", 2 * time.Hour},
		{5 * time.Hour, "in 5 hours", "через 5 часов", 5 * time.Hour},
	} {
		for lang, want := range map[string]string{"en": tt.en, "ru": tt.ru} {
			if got := In(LocaleOf(lang), tt.d); got != want {
				t.Errorf("%v in %s: %q, want %q", tt.d, lang, got, want)
			}
		}
		if got := RoundWait(tt.d); got != tt.round {
			t.Errorf("%v is rounded to %v, want %v", tt.d, got, tt.round)
		}
	}
}

func TestStrangerText(t *testing.T) {
	for _, tt := range []struct {
		slow   timelines.StrangerError
		en, ru string
	}{
		{
			timelines.StrangerError{Most: 5, After: 12 * time.Minute},
			"While your account is new, you can write 5 posts an hour. Try again in 12 minutes.",
			"Пока ваша учётная запись новая, можно писать 5 записей в час. Попробуйте снова через 12 минут.",
		},
		{
			timelines.StrangerError{Most: 1, After: time.Second, Comments: true},
			"While your account is new, you can write 1 comment an hour. Try again in 1 second.",
			"Пока ваша учётная запись новая, можно писать 1 комментарий в час. Попробуйте снова через 1 секунду.",
		},
	} {
		for lang, want := range map[string]string{"en": tt.en, "ru": tt.ru} {
			if got := StrangerText(LocaleOf(lang), &tt.slow); got != want {
				t.Errorf("%+v in %s: %q, want %q", tt.slow, lang, got, want)
			}
		}
	}
}
