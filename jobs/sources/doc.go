// Package sources fetches sources by their links (Fetcher), and works their loads (Runner): it reads
// the fetched files, applies them, and removes absent items (source: 003). Package
// riverrun/timelines/sources keeps the state of loads, decides when a source is fetched, and decides
// what happens to an item.
//
// # Fetching
//
// A Fetcher takes the right to fetch the source, or stops (F11). It reserves the host: across all
// nodes, a host gets one request at a time, with a gap. It fetches through the guard of package fetch
// into a temporary file, and stores that as a blob. It records the load with its job, or why there is
// none. The file is not loaded if the last load was of the same file, for the same version, and had
// no problems.
//
// Only the host in the link is reserved. A host that a redirect leads to is asked in addition.
//
// A failure for which the other side is to blame is a problem of the source, with a stable code
// (sources.Problems), and the source is fetched after longer and longer times. A failure for which
// this node is to blame is an error, and says nothing about the source (F15).
package sources
