package markup

import "testing"

// typical is a post as people write them, of 300 characters.
const typical = "Walked along the river today with @anna and took some pictures: https://a.example/photos/2011/spring_walk\n\n" +
	"The *old* weir is gone, **sadly**. They say:\n> a new one will be built in spring\n\nI do not believe it. #river #spring\n- bring boots\n- bring `gpx` files, see [the map](https://maps.example/x)."

func BenchmarkHTML(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		HTML(typical)
	}
}

func BenchmarkProse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Prose(typical)
	}
}
