// Package markup renders the texts of people who know a small Markdown: emphasis (*a*, **a**
// and _a_), ~~strikethrough~~, `code` and code fenced by ```, quotes (>), lists (-, * and
// 1.), links [text](https://example.org), and spoilers (||hidden||). Bare addresses, @names
// and #tags are links as in plain texts. All else stays the text it is: headings, HTML,
// character references, images, tables, rules and references. A backslash keeps the sign
// after it from being a mark.
//
// The grammar is CommonMark's, by goldmark, with exceptions for people who do not think of
// markup. A line break is one. Indented text is no code. A quote and an item of a list end
// with their last line: an answer right below a quotation is not quoted. A list has numbers
// only if it begins with 1, and "* * *" is no list. Nothing that a person wrote vanishes but
// signs that are markup and the name of a programming language behind ```.
//
// marks decides what is a name, a tag or an address, and it reads Prose: the source with
// spaces for code, for links and for the signs of markup. HTML links the marks of Prose, and
// what counts mentions and tags must read Prose too. So a name in code or in the text of a
// link mentions nobody, and **@anna** mentions Anna.
//
// A link shows where it leads if its text has the look of another address:
// [https://bank.example](https://evil.example) is followed by (evil.example).
//
// A spoiler is
//
//	<span class="spoiler"><input type="checkbox" …><span hidden>text</span></span>
//
// and a style sheet shows the text while the box is checked:
//
//	.spoiler > input:checked + [hidden] { display: inline }
//
// It needs no script, stands inside a line, is reached by the keyboard, and is announced as
// a check box called "Spoiler" in the language of the page (SpoilerLabel). The text is
// hidden from screen readers as long as from eyes, and stays hidden where there is no style
// sheet. Rejected: <details> is a block, and ends the paragraph. A label needs an id that is
// unique on a page of many texts, and what it covers is read out as its name. A span with
// tabindex=0 that shows its text while it has the focus is announced as nothing, its text is
// read to everybody who cannot see, and a click elsewhere hides it again.
//
// The beginning of a longer source is a source by Cut or CloseSpoiler only: if the end of a
// spoiler is cut off, nothing else hides it.
//
// Work, memory and the length of the HTML are in proportion to the source, whatever it is,
// and elements are nested to a depth of 20 at most: quotes and lists to six, deeper ones
// stay text, and no inline element stands inside of its like. A block has at most a thousand
// signs of emphasis, and the rest of them stays text.
//
// A source is as the store keeps texts: valid UTF-8 with lines ended by LF, without NUL.
// The HTML of any other is safe too, but its text may differ from Plain's. All functions are
// safe for concurrent use.
package markup
