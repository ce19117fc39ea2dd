package view

import (
	"testing"

	"riverrun/timelines/markup"
)

// BenchmarkText renders a typical post of 300 characters, as plain text and with markup.
func BenchmarkText(b *testing.B) {
	const body = "Walked along the river today with @anna and took some pictures: https://a.example/photos/2011/spring_walk\n\n" +
		"The *old* weir is gone, **sadly**. They say:\n> a new one will be built in spring\n\nI do not believe it. #river #spring\n- bring boots\n- bring `gpx` files, see [the map](https://maps.example/x)."
	for name, f := range map[string]func(string) string{"plain": textHTML, "markup": markup.HTML, "prose": markup.Prose} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(body)
			}
		})
	}
}
