// Package tokens makes app tokens, by which programs act for people.
//
// An app token is a session (a row of sessions) with a row of app_tokens beside it. So all that ends
// sessions ends tokens too, by the access clock: a new password, a suspension, the deletion of the
// account, "End all others". The session of a token opens no page, and that of a browser is no token:
// access.Cache keeps them apart.
//
// A token is shown once, when it is made. Only its hash is stored.
package tokens
