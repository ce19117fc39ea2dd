// Package dictionary finds tags for a text by the words in it (source: 003; its row F17).
//
// A person or a group has one dictionary: tags, each with the words and phrases that stand for it.
// The items of their sources get the tags of the words that stand in them, and whoever writes a post
// to them is proposed these tags.
//
// Words are found whole, however they are spelled as to case and composition, as in tags (package
// marks). A phrase is found where its words stand one after the other with nothing but spaces between.
// A word that also names the tag need not be given.
package dictionary
