// Package site makes the site that riverbench measures: a PostgreSQL of its own with a town in it, and
// "riverrun serve" before it, both as a user would have them. It measures what they take from
// outside: the kernel's account of processor time and memory, PostgreSQL's of statements.
package site
