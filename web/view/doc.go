// Package view makes HTML: the pages, the entries that stand on them, and the feed files.
//
// Each page has a struct with its data, and beside it a template. The package web fills the
// struct and sends the page. A Base is part of every such struct: it has the viewer, the
// language and everybody's names.
//
// A Renderer makes entries. Pages, replies to forms and frames of the socket are rendered
// by the same functions from the same rivers.Item, so that a push cannot show what a page
// would not. An entry has parts (Parts). Its text and its comments are the same for nearly
// all viewers: they are rendered once and kept in a cache, under a key that holds all they
// depend on, and nothing else of the viewer. Names are resolved when an entry is shown.
//
// People's text never becomes markup (textHTML), people's addresses only ever become links,
// and no page loads anything from elsewhere.
package view
