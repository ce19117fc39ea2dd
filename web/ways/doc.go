// Package ways tests the ways of people through the site in a real browser: a person's, a
// moderator's and a host's, each at a desk in English and on a phone in Russian. It has no code of
// its own.
package ways
