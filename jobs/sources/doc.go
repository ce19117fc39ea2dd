// Package sources fetches sources by their links (Fetcher), and works their loads (Runner): it reads
// what came, applies it, and removes what is gone (source: 003). Which load is where, when a source
// is fetched, and what becomes of an item, is said by package riverrun/timelines/sources.
//
// # Fetching
//
// A Fetcher takes the right to fetch the source, or stops (F11). It reserves the host: one request of
// it at a time, across nodes, with a gap. It fetches through the guard of package fetch into a
// temporary file, stores that as a blob, and records the load with its job, or why there is none.
// The file is not loaded if the last load was of the same file, for the same version, and clean.
//
// Only the host that the link names is reserved: one that a redirect leads to is asked in addition.
//
// What the other side is to blame for is a problem of the source with a stable code
// (sources.Problems), and it is fetched later and later. What this node is to blame for is an error,
// and says nothing of the source (F15).
package sources
