// Package dictionary finds tags for a text by the words in it (source: 003; its row F17).
//
// A person or a group has one dictionary: tags, each with the words and phrases that stand for it.
// Items of their sources get the tags of the words in them. A person who writes a post to such a
// place is offered the tags.
//
// Words are found whole. Case and composition of their letters do not matter, as in tags (package
// marks). Only spaces may stand between the words of a phrase. The name of the tag counts as one of
// its words.
package dictionary
