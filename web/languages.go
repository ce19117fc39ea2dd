package web

// languageNames are the languages posts are told apart by (language.Known), each
// as it calls itself.
var languageNames = map[string]string{"en": "English", "ru": "Русский"}
