package view

// SignUp is the form for a new account, empty or as it was sent; the
// password is never sent back.
type SignUp struct {
	Name, Title, Back string
	Error             FormError
}
