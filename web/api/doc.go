// Package api is the site for programs: JSON over HTTP under /api, for which a program has an app token. It works
// out rows G8, G12 and G21 of source document 002.
//
// A program is its token's owner, with fewer rights: it reads what the owner may read and writes as the owner, within
// the token's scopes. Every answer is decided as a page is (R4), at one moment.
//
// Each operation is registered once, with the types of what comes and what goes. The router, the checks of
// parameters and the OpenAPI document at /api/openapi.json are made of that.
//
// Errors are application/problem+json (RFC 9457) with a code; those of what people write are the codes of package
// rules.
package api
