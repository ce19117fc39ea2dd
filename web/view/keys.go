package view

// keys are what river.js does at a key, in the order of their page.
var keys = []struct {
	keys []string
	does string // a key of the catalogues
}{
	{[]string{"j"}, "keys.next"},
	{[]string{"k"}, "keys.previous"},
	{[]string{"l"}, "keys.like"},
	{[]string{"o"}, "keys.open"},
	{[]string{"c"}, "keys.comment"},
	{[]string{"s"}, "keys.save"},
	{[]string{"n"}, "keys.new"},
	{[]string{"/"}, "keys.search"},
	{[]string{"g", "h"}, "keys.home"},
	{[]string{"Ctrl", "Enter"}, "keys.send"},
	{[]string{"Esc"}, "keys.close"},
	{[]string{"?"}, "keys.help"},
}

// markdown is what the page says of the Markdown of posts and comments.
var markdown = []struct{ source, makes string }{
	{"**word**", "keys.strong"},
	{"*word*", "keys.emphasis"},
	{"`word`", "keys.code"},
	{"> words", "keys.quote"},
	{"- words", "keys.list"},
	{"[words](https://…)", "keys.link"},
	{"||words||", "keys.spoiler"},
	{"#word", "keys.tag"},
	{"@name", "keys.name"},
}
