// Package sources works the loads of sources: it reads what came, applies it, and removes what is
// gone (source: 003). Which load is where, and what becomes of an item, is said by package
// riverrun/timelines/sources.
package sources
