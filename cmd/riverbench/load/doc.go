// Package load sends requests to a site as many signed-in people's browsers do, over connections
// that stay open, and follows pages over websockets.
package load
