package view

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/markup"
)

// accountURL is the address of an account's page; page "" is its posts.
func accountURL(a timelines.Account, page string) templ.SafeURL {
	address := "/" + a.Name
	if page != "" {
		address += "/" + page
	}
	return templ.SafeURL(address)
}

func CommentID(id int64) string { return "c-" + strconv.FormatInt(id, 10) }

func CommentURL(code string, id int64, act string) templ.SafeURL {
	return templ.SafeURL("/p/" + code + "/comments/" + strconv.FormatInt(id, 10) + "/" + act)
}

func LoginURL(back string) templ.SafeURL {
	return templ.SafeURL("/login?back=" + url.QueryEscape(back))
}

// RiverAddress is the address of a page of a river: path and order, the mode if
// it has modes, and the cursor it begins after, "" for the top. The
// path of an aggregate has the language with it, that of a search the query.
func RiverAddress(path string, order rivers.Order, mode, cursor string) string {
	q := url.Values{}
	if cursor != "" {
		q.Set("before", cursor)
	}
	if mode != "" {
		q.Set("mode", mode)
	}
	if order == rivers.Created {
		q.Set("order", string(order))
	}
	if len(q) == 0 {
		return path
	}
	return path + QuerySign(path) + q.Encode()
}

// QuerySign is what stands before the next parameter of an address.
func QuerySign(address string) string {
	if strings.Contains(address, "?") {
		return "&"
	}
	return "?"
}

// languagePath is the path of an aggregate's page in a language, "" for all.
func languagePath(path, lang string) string {
	if lang == "" {
		return path
	}
	return path + "?lang=" + url.QueryEscape(lang)
}

func signUpURL(back string) templ.SafeURL {
	return templ.SafeURL("/signup?back=" + url.QueryEscape(back))
}

// TagPath is the address of a tag's page.
func TagPath(term string) string { return markup.TagPath(term) }
