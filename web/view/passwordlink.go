package view

// PasswordLink is the page of an address that works once, on which somebody chooses a password.
type PasswordLink struct {
	*Base
	Name  string // the account's
	Token string
	Error FormError
}
