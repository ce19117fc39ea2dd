package view

// apiHelpTexts are the texts of the page for people who write programs.
var apiHelpTexts = texts{
	"apihelp.title": {"The API", "API"},
	"apihelp.lead": {
		"A program with a token reads and writes as the person whose token it is. It talks JSON over HTTP.",
		"Программа с токеном читает и пишет от имени того, чей это токен. Она обменивается с сайтом данными в JSON по HTTP.",
	},
	"apihelp.begin":                  {"How to begin", "С чего начать"},
	"apihelp.token":                  {"Make a token on the page {tokens}, and choose what it allows. Each call has it in the header Authorization. This one writes a post:", "Создайте токен на странице «{tokens}» и выберите, что он разрешает. Каждый вызов передаёт его в заголовке Authorization. Этот вызов публикует запись:"},
	"apihelp.document":               {"The same operations for programs: {document}.", "Те же операции для программ: {document}."},
	"apihelp.feeds":                  {"A program that only brings items from elsewhere needs no token of a person: see {feeds}.", "Если программа только приносит записи с других сайтов, токен человека ей не нужен: см. «{feeds}»."},
	"apihelp.errors":                 {"Errors", "Ошибки"},
	"apihelp.error":                  {"An error is application/problem+json. Its code stays the same in all versions; detail says it in words, and errors says which fields are wrong. 404 is the answer for what is not there, and for what you may not read. An example:", "Ошибка приходит как application/problem+json. Её code не меняется от версии к версии; detail говорит то же словами, errors называет поля. То, что вам недоступно, отвечает 404, как и то, чего нет. Пример:"},
	"apihelp.codes":                  {"The codes of what is wrong with a post or a comment are on the page {rules}. The others:", "Коды ошибок в записи или комментарии перечислены на странице «{rules}». Остальные:"},
	"apihelp.code.token_wrong":       {"There is no such token, or it is over.", "Такого токена нет, или срок его истёк."},
	"apihelp.code.scope_missing":     {"The token does not allow this.", "Токен этого не разрешает."},
	"apihelp.code.limited":           {"There were too many calls. Wait as long as Retry-After says.", "Слишком много вызовов. Подождите, сколько указано в Retry-After."},
	"apihelp.code.call_invalid":      {"The call is not as this page says; errors has the fields.", "Вызов не такой, как описано на этой странице; поля названы в errors."},
	"apihelp.code.body_large":        {"The body is too large.", "Тело запроса слишком велико."},
	"apihelp.code.page_invalid":      {"A page is the path of an address, and its query.", "Страница задаётся путём адреса и его параметрами."},
	"apihelp.code.changes_gone":      {"The log does not go back that far. Read anew what you keep, and go on after first.", "Журнал не хранит так давно. Прочитайте заново то, что храните, и продолжайте после first."},
	"apihelp.code.condition_missing": {"Send either If-Match with the ETag that you read, or If-None-Match: *.", "Передайте либо If-Match с прочитанным ETag, либо If-None-Match: *."},
	"apihelp.code.state_changed":     {"The state is another one now, or is gone. Read it again; version is the present one.", "Состояние уже другое или его нет. Прочитайте его заново; version — нынешняя версия."},
	"apihelp.code.refused":           {"The site refuses this now; detail says why.", "Сайт сейчас этого не делает; почему, говорит detail."},
	"apihelp.limits":                 {"Limits", "Ограничения"},
	"apihelp.limit":                  {"A token may make {n} calls a minute; RateLimit-Remaining says how many are left. Its changes count with those that you make on the pages, but not the states that a token for the whole site keeps beside posts. After 429, wait as long as Retry-After says. A body has at most 1 MiB.", "Токену разрешено {n} вызовов в минуту; сколько осталось, говорит RateLimit-Remaining. Изменения считаются вместе с теми, что вы делаете на страницах; не считаются только состояния, которые хранит у записей токен для всего сайта. После 429 подождите, сколько указано в Retry-After. Тело запроса не больше 1 МиБ."},
	"apihelp.hooks": {
		"A webhook spares a program from asking: the site sends what {changes} would say to an address that you give on the page {hooks}, from then on.",
		"С вебхуком программе не нужно спрашивать: сайт сам отправляет то, что сказал бы {changes}, на адрес, который вы укажете на странице «{hooks}», начиная с этого времени.",
	},
	"apihelp.hooks.sent": {
		"A delivery is a POST with at most {n} changes, the oldest first, each as a line of {changes} has it. Riverrun-Timestamp is when it was sent, in seconds since 1970; Riverrun-Delivery is another one with each try. This one is signed with the secret {secret}:",
		"Доставка — это POST, в котором не больше {n} изменений, сначала самые старые; каждое такое, как строка ответа {changes}. Riverrun-Timestamp говорит, когда она отправлена, в секундах с 1970 года; Riverrun-Delivery у каждой попытки своя. Эта доставка подписана секретом {secret}:",
	},
	"apihelp.hooks.check": {
		"The signature is the HMAC-SHA256 of the timestamp, a dot and the body as it came; the key is the webhook’s secret, all of it. Refuse a delivery with another signature, or from some minutes ago, which somebody may have recorded. In Python:",
		"Подпись — это HMAC-SHA256 от времени, точки и тела в том виде, в каком оно пришло; ключ — весь секрет вебхука. Не принимайте доставку с другой подписью и ту, которой уже несколько минут: её могли записать. На Python:",
	},
	"apihelp.hooks.retries": {
		"Answer with a status of 2xx within {seconds} seconds, and do the work afterwards. All else is a failure, a redirect too. The site tries again after {first} seconds, then after longer and longer. After {n} failures in a row, which takes more than {days} days, it stops the webhook, and a new password stops it at once. On its page you have it sent again; it goes on from where it stopped.",
		"Отвечайте кодом 2xx за {seconds} с, а работу делайте потом. Всё остальное считается неудачей, и перенаправление тоже. Сайт попробует снова через {first} с, дальше всё реже. После {n} неудач подряд, то есть больше чем через {days} дня, он остановит вебхук; новый пароль останавливает его сразу. Включить его снова можно на его странице: он продолжит с того места, где остановился.",
	},
	"apihelp.hooks.twice": {
		"A change may come twice, as when your answer was lost. Its id is then the same: skip what you know. A post comes as it is when it is sent. Changes that waited for longer than the log is kept are lost; a line of the kind gap says so, and then you read all that you keep again.",
		"Изменение может прийти дважды, например если ваш ответ потерялся. Тогда id у него тот же: пропускайте то, что уже знаете. Запись приходит такой, какая она в момент отправки. Изменения, которые ждали дольше, чем хранится журнал, теряются; об этом говорит строка вида gap, и тогда всё, что вы храните, нужно прочитать заново.",
	},
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
