package main

// rows are all that is measured, in the order of the table.
var rows = []row{
	{"home", "a person's own home page, which they have visited before", page(peer{75.5, 17.2, 22.5, 90.1}, same("/"))},
	{"changed", "the same page when something on it changed, so that it is compressed anew", changed},
	{"again", "the same page for a browser that has it: the answer is 304", again},
	{"older", "the page of a person's home that is 600 posts further down, which they have visited before", older},
	{"user", "another person's page", page(peer{29.3, 39.6, 21, 17}, userPages)},
	{"discussions", "what a person has written, commented or liked", page(peer{43.6, 28.9, 19, 40}, same("/filter/discussions"))},
	{"group", "the page of a group", page(peer{}, groupPages)},
	{"best", "the best posts", page(peer{}, same("/best"))},
	{"search", "what a search finds, the first time and later", search},
	{"single", "the page of one post", page(peer{15.1, 67.5, 13.8, 9}, singlePages)},
	{"everything", "all public posts, for somebody who is signed in", page(peer{}, same("/everything"))},
	{"cold", "the home page of a person who has never come before", cold},
	{"herd", "a crowd asks at once for one page that nobody has visited", herd},
	{"like", "a like or its end, answered with the entry; with all that follows from it", like},
	{"comment", "a comment, answered with the entry; with all that follows from it", comment},
	{"post", "a new post, answered with the entry; with all that follows from it", post},
	{"rivers", "a post, until all rivers have it, and a like, where few home pages hold the post and where very many do", intoRivers},
	{"watch", "a like and a comment, until open pages show them", watch},
	{"pushed", "a like until another person's open page shows it, while 100 likes come in a second", pushed},
	{"idle", "what a site does when nothing happens", idle},
	{"sockets", "what open pages take while nothing happens, each time in a new server", sockets},
	{"crash", "open pages from when the server is killed, and another one started, until each has what it missed", crash},
	{"client", "what a browser loads once: scripts and styles", client},
}
