// Package archives makes the archive of what somebody has on the site (timelines/exports): a ZIP of
//
//	data.json     all of it, for programs
//	index.html    the way to the pages
//	2026.html     the posts of a year with their comments, for people: no server and no script is needed
//	files/        the originals of uploads
//
// It is written as it is read, straight into the store of blobs, so neither memory nor a second file has
// all of it. A crash leaves what crashes in a Put leave, which the sweep removes, and the next attempt begins
// anew.
package archives
