package view

// apiHelpTexts are the texts of the page for people who write programs.
var apiHelpTexts = texts{
	"apihelp.title": {"The API", "API"},
	"apihelp.lead": {
		"A program with a token reads and writes as the person whose token it is. It talks JSON over HTTP.",
		"Программа с токеном читает и пишет от имени того, чей это токен. Она обменивается с сайтом данными в JSON по HTTP.",
	},
	"apihelp.begin":      {"How to begin", "С чего начать"},
	"apihelp.token":      {"Make a token on the page {tokens}, and choose what it allows. Each call has it in the header Authorization. This one writes a post:", "Создайте токен на странице «{tokens}» и выберите, что он разрешает. Каждый вызов передаёт его в заголовке Authorization. Этот вызов публикует запись:"},
	"apihelp.document":   {"The same operations for programs: {document}.", "Те же операции для программ: {document}."},
	"apihelp.feeds":      {"A program that only brings items from elsewhere needs no token of a person: see {feeds}.", "Если программа только приносит записи с других сайтов, токен человека ей не нужен: см. «{feeds}»."},
	"apihelp.errors":     {"Errors", "Ошибки"},
	"apihelp.error":      {"An error is application/problem+json. Its code stays the same in all versions; detail says it in words, and errors says which fields are wrong. 404 is the answer for what is not there, and for what you may not read. An example:", "Ошибка приходит как application/problem+json. Её code не меняется от версии к версии; detail говорит то же словами, errors называет поля. То, что вам недоступно, отвечает 404, как и то, чего нет. Пример:"},
	"apihelp.limits":     {"Limits", "Ограничения"},
	"apihelp.limit":      {"A token may make {n} calls a minute; RateLimit-Remaining says how many are left. Its changes count with those that you make on the pages. After 429, wait as long as Retry-After says. A body has at most 1 MiB.", "Токену разрешено {n} вызовов в минуту; сколько осталось, говорит RateLimit-Remaining. Изменения считаются вместе с теми, что вы делаете на страницах. После 429 подождите, сколько указано в Retry-After. Тело запроса не больше 1 МиБ."},
	"apihelp.operations": {"Operations", "Операции"},
	"apihelp.scope":      {"With the scope {scope}", "С разрешением {scope}"},
	"apihelp.source":     {"With the token of a source", "С ключом источника"},
	"apihelp.source.what": {
		"A program that only brings items has the token of one source, which stands on the page of the source. It allows these calls for this source and nothing else. An error says its code in error; the codes are on the page {feeds}.",
		"Программе, которая только приносит записи, достаточно ключа одного источника: он указан на странице источника. Этот ключ разрешает только эти вызовы и только для этого источника. Ошибка называет свой код в error; коды перечислены на странице «{feeds}».",
	},
	"apihelp.hub": {"Calls of hubs", "Вызовы хабов"},
	"apihelp.hub.what": {
		"The hub of a feed (WebSub) calls these at an address that this site gave it. No other program needs them.",
		"Эти адреса вызывает хаб ленты (WebSub): сайт сообщил ему адрес сам. Другим программам они не нужны.",
	},
	"apihelp.needs":    {"Scope: {scope}", "Разрешение: {scope}"},
	"apihelp.sent":     {"Parameters and body", "Параметры и тело"},
	"apihelp.answered": {"Answer", "Ответ"},
	"apihelp.required": {"required", "обязательно"},
	"apihelp.types":    {"Types", "Типы"},
	"feedhelp.whole":   {"This part of the API brings items alone. For all else that a program may do, see {api}.", "Эта часть API только приносит записи. Обо всём остальном, что может программа: {api}."},
	"apihelp.more":     {"How programs use tokens: {api}.", "Как программы пользуются токенами: {api}."},
}
