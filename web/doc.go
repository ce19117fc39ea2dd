// Package web is what browsers and other programs meet: pages, forms, the
// socket, river.js.
//
// # What it promises
//
//   - Every page and every form works without JavaScript; river.js only spares
//     the reload.
//   - A warm page costs the one statement of rivers.Store.Visit: sessions, names
//     and access sets come from access.Cache. A search costs another one
//     before it, which asks what changed since the search was last brought up, and one
//     to the primary store, for people and groups (Server.lookAround).
//   - A success is answered only after tiers.Tiers.Act returned: my own change is
//     in the reply (R3), and a narrowing holds from the reply on (R4).
//
// # How it is laid out
//
// One file per page with its routes and its handlers, which fill a struct of the package
// view; a file of the same name there has the struct and its template. Handlers return
// errors, and problem.go alone says what an error becomes.
package web
