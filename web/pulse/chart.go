package pulse

import (
	"strconv"
	"strings"
)

// Width and Height are those of the box that a line is drawn in.
const (
	Width, Height = 300, 60
	margin        = 3
	dot           = 4
)

// Line is the path of a series in an SVG of Width and Height, from 0 at the bottom to the greatest value
// at the top. Where values are missing the line is broken; one that stands alone is a dot.
func (s Series) Line() string {
	_, _, greatest, ok := s.Range()
	if !ok {
		return ""
	}
	if greatest == 0 {
		greatest = 1
	}
	var b strings.Builder
	for i, p := range s {
		if !p.OK {
			continue
		}
		x := margin + float64(Width-2*margin)*float64(i)/float64(max(len(s)-1, 1))
		y := Height - margin - float64(Height-2*margin)*p.Value/greatest
		begins, ends := i == 0 || !s[i-1].OK, i+1 == len(s) || !s[i+1].OK
		if begins && ends {
			x = min(max(x-dot/2, margin), Width-margin-dot)
		}
		b.WriteString(map[bool]string{true: "M", false: "L"}[begins])
		b.WriteString(strconv.FormatFloat(x, 'f', 1, 64) + " " + strconv.FormatFloat(y, 'f', 1, 64))
		if begins && ends {
			b.WriteString("h" + strconv.Itoa(dot))
		}
	}
	return b.String()
}
