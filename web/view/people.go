package view

// People is the directory of people as components see it.
type People struct {
	*Base
	Directory
	Requests Requests
}
