// Package web serves browsers and other programs: pages, forms, feeds, and the script and the
// style sheet of the pages. Open pages are followed by the package live, and HTML is made in the
// package view.
//
// # What it promises
//
//   - Every page and every form works without JavaScript; river.js only saves the reload.
//   - A warm page costs the one statement of rivers.Store.Visit: sessions, names
//     and access sets come from access.Cache. A search costs another one
//     before it, which asks what changed since the search was last brought up, and one
//     or two to the primary store, for people and groups (searches.lookAround).
//   - A success is answered only after tiers.Tiers.Carry returned: my own change is
//     in the reply (R3), and a narrowing holds from the reply on (R4).
//
// # How it is laid out
//
// Each page has a file with its routes and its handlers, which fill a struct of the package
// view; a file of the same name there has the struct and its template. Handlers return
// errors, and problem.go alone says what an error becomes. Tests of the whole site are in the
// package web_test, on the harness of the package webtest.
package web
