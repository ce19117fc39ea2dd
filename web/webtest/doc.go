// Package webtest runs a whole site for tests of web and of the packages in it: a [Site] on
// databases of its own, each [Person] signed in there, a [Visitor] for a browser without
// JavaScript, a [Page] for a program that speaks the protocol of sockets, and a [Tab] of a real
// Chromium. It is built on what web and web/live export. Only tests may import it, which the
// test of imports in cmd/riverrun holds.
//
// A method whose promise does not come true within [Patience] fails its test.
package webtest
