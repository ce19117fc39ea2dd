// Package web is what browsers and other programs meet: pages, forms, the
// socket, river.js.
//
// # What it promises
//
//   - Every page and every form works without JavaScript; river.js only spares
//     the reload.
//   - A page, a fragment, a reply and a frame are rendered by the same functions
//     (entryParts) from the same decided items (rivers.Item), so a push cannot
//     show what a page would not.
//   - What is shared between viewers, the text and the comments of an entry, is
//     rendered once per (post, version, language, rights, destinations) and holds
//     nothing that depends on who looks. Names are resolved when it is shown.
//   - A warm page costs the one statement of rivers.Store.Visit: sessions, names
//     and access sets come from timelines.AccessCache. A search costs another one
//     before it, which asks what changed since the search was last brought up, and one
//     to the primary store, for people and groups (Server.lookAround).
//   - A success is answered only after tiers.Tiers.Act returned: my own change is
//     in the reply (R3), and a narrowing holds from the reply on (R4).
//   - People's text never becomes markup (textHTML), people's addresses never
//     become anything but links, and no page loads anything from elsewhere.
//
// # How it is laid out
//
// One file per page with its routes, its handlers and its templ components beside
// it; entry.go and entry.templ are the entry they all show. Handlers return
// errors, and problem.go alone says what an error becomes.
package web
