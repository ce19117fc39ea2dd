// Package ways tests the ways of people through the site in a real browser: a person's, a
// writer's, a moderator's and a host's, each at a desk in English and on a phone in Russian. Where forms
// suffice they also go it without scripts. It has no code of its own.
package ways
