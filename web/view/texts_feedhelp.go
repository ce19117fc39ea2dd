package view

// feedHelpTexts are the texts of the page for people who make feeds.
var feedHelpTexts = texts{
	"feedhelp.title": {"Feeds for sources", "Ленты для источников"},
	"feedhelp.lead": {
		"A source brings items from elsewhere into a person’s feed or a group: a blog, bookmarks, a list that a program keeps. This page is for those who make such feeds.",
		"Источник приносит записи с других сайтов в ленту человека или группы: из блога, закладок, списка, который ведёт программа. Эта страница для тех, кто такие ленты делает.",
	},
	"feedhelp.ways": {"Ways in", "Способы"},
	"feedhelp.link": {
		"By link. The site fetches the feed every half hour or so. The address of a page is enough if the page names its feed with <link rel=\"alternate\">; if it names several, another can be chosen on the source’s page. ETag and Last-Modified, Cache-Control: max-age, Retry-After and <ttl> are honoured; 301 and 308 move the source, 410 pauses it. A hub that the feed names (WebSub) is asked to tell of what is new.",
		"По ссылке. Сайт забирает ленту примерно раз в полчаса. Достаточно адреса страницы, если на ней есть <link rel=\"alternate\">; если там названо несколько лент, другую можно выбрать на странице источника. Учитываются ETag и Last-Modified, Cache-Control: max-age, Retry-After и <ttl>; после 301 и 308 адрес источника меняется, после 410 он встаёт на паузу. Хаб, который назван в ленте (WebSub), получает просьбу сообщать о новом.",
	},
	"feedhelp.opml": {"By OPML: a list of links, each of which becomes a source.", "Через OPML: список ссылок, каждая из которых становится источником."},
	"feedhelp.file": {"By file: you upload it, and upload it again when it has changed.", "Файлом: он загружается на сайт, а после изменений загружается снова."},
	"feedhelp.push": {"By push: a program sends items as they change. See {push}.", "Отправкой: программа присылает записи, когда они меняются. См. раздел «{push}»."},

	"feedhelp.items": {"Items and posts", "Записи"},
	"feedhelp.id": {
		"Each item becomes one post, known by its id (guid in RSS, id in Atom). An item with the same id and another text changes the post. What was edited or deleted here stays as it is.",
		"Каждая запись ленты становится записью на сайте и узнаётся по идентификатору (guid в RSS, id в Atom). Если под тем же идентификатором приходит другой текст, запись меняется. То, что исправлено или удалено на сайте, остаётся как есть.",
	},
	"feedhelp.modes": {
		"RSS, Atom and JSON Feed are windows on the newest items, and so is what a program sends: absence means nothing. XML, CSV and NDJSON are full lists: an item that is absent is gone, and its post is deleted or kept, as the source is set. A source can be set the other way on its page.",
		"RSS, Atom и JSON Feed показывают только новое, и программа присылает только новое: если чего-то нет, это ничего не значит. XML, CSV и NDJSON — полные списки: чего в списке нет, то исчезло, и запись удаляется или остаётся, смотря по настройкам источника. На странице источника это можно изменить.",
	},
	"feedhelp.guard": {
		"If more than a fifth of the posts would go at once, or what the source is set to, the load stops and its owner is asked on the page of notifications. No browser gets a push for that. Up to five go without a question, unless they are all there are. While an item has no readable id, nothing goes.",
		"Если разом исчезло бы больше пятой части записей или доли из настроек источника, загрузка останавливается и спрашивает владельца на странице уведомлений. Браузеру об этом ничего не отправляется. До пяти исчезают без вопроса, если это не все, какие есть. Пока у какой-нибудь записи не читается идентификатор, не исчезает ничего.",
	},

	"feedhelp.formats": {"Formats", "Форматы"},
	"feedhelp.known": {
		"RSS of all versions, RDF, Atom, JSON Feed, and three formats of this site: XML, CSV and NDJSON. The file itself tells which it is. It may be compressed with gzip, and be in any encoding that it declares; UTF-8 is best.",
		"RSS всех версий, RDF, Atom, JSON Feed и три формата этого сайта: XML, CSV и NDJSON. Формат определяется по самому файлу. Файл может быть сжат gzip и быть в любой указанной в нём кодировке; лучше всего UTF-8.",
	},
	"feedhelp.limits": {
		"A file has at most {mb} MB (once it is unpacked, 2 GiB) and {items} items of 1 MiB each. A feed is fetched every {minutes} minutes at most.",
		"В файле не больше {mb} МБ (в распакованном виде 2 ГиБ) и не больше {items} записей до 1 МиБ каждая. Лента скачивается не чаще, чем раз в {minutes} мин.",
	},
	"feedhelp.rules": {"What is done with an item that goes beyond a bound: see {rules}.", "Что делается с записью, которая выходит за пределы: {rules}."},
	"feedhelp.fields": {
		"The fields of XML, CSV and NDJSON are the same. Only id is required, and one of title, text, html, url, pictures and files.",
		"Поля у XML, CSV и NDJSON одни и те же. Обязателен только id и что-нибудь одно: title, text, html, url, pictures или files.",
	},
	"feedhelp.most":    {"{n} characters at most.", "Не больше {n} символов."},
	"feedhelp.several": {"Several, {n} at most.", "Несколько, не больше {n}."},
	"feedhelp.xml": {
		"The {schema} says the same for programs: check your file with {command}. This is {example}:",
		"То же самое для программ говорит {schema}: проверьте свой файл командой {command}. Вот {example}:",
	},
	"feedhelp.schema":  {"schema (XSD)", "схема (XSD)"},
	"feedhelp.example": {"an example", "пример"},
	"feedhelp.csv": {
		"The first row names the fields, in any order. Commas, semicolons or tabs separate them; several values of one field are separated by |. Here is {example}:",
		"Первая строка называет поля в любом порядке. Их разделяют запятые, точки с запятой или табуляции; несколько значений одного поля разделяет |. Вот {example}:",
	},
	"feedhelp.ndjson": {
		"One JSON object a line. Several values are an array. Here is {example}:",
		"По одному объекту JSON в строке. Несколько значений — массив. Вот {example}:",
	},

	"feedhelp.api": {"Pushing", "Отправка"},
	"feedhelp.token": {
		"Add a source for a program, and make a token on its page: it is shown once. The token is all that a program needs; keep it secret. In the examples SOURCE is the source’s code, the last part of the address of its page.",
		"Добавьте источник, в который пишет программа, и создайте ключ на его странице: он показывается один раз. Больше программе ничего не нужно; храните ключ в секрете. В примерах SOURCE — код источника, последняя часть адреса его страницы.",
	},
	"feedhelp.api.items": {
		"Send what is new in one call: an item, or up to 500, one a line, as in NDJSON. The answer says what became of each, and where its post is. An item that comes again under its id is the same one, changed or not. Nothing is removed.",
		"Новое отправляйте одним запросом: одну запись или до 500, по одной в строке, как в NDJSON. В ответе сказано, что стало с каждой и где она на сайте. Запись с тем же id — та же самая, изменилась она или нет. Ничего не удаляется.",
	},
	"feedhelp.api.lists": {
		"A list of everything there is goes in a load. If the source is set to a full list on its page, what is absent is removed in the end, also what was sent in single calls.",
		"Полный список отправляйте загрузкой. Если на странице источника выбран полный список, в конце исчезнет то, чего в нём нет, в том числе отправленное отдельными запросами.",
	},
	"feedhelp.api.begin": {
		"1. Begin a load. One that was begun before and not finished is cancelled.",
		"1. Начните загрузку. Начатая раньше и не завершённая отменяется.",
	},
	"feedhelp.api.batch": {
		"2. Send batches, numbered from 1, in any order: at most 500 items and 4 MiB each. The items are objects as in NDJSON. The answer says what became of each, and pages show it at once. Send a batch again if no answer came: it gets the same answer, and nothing is done twice.",
		"2. Отправьте пакеты, пронумерованные с 1, в любом порядке: в каждом не больше 500 записей и 4 МиБ. Записи — объекты, как в NDJSON. В ответе сказано, что стало с каждой, и страницы показывают это сразу. Если ответа нет, отправьте пакет ещё раз: ответ будет тем же, дважды ничего не сделается.",
	},
	"feedhelp.api.finish": {
		"3. Finish the load with the number of batches. It is refused until all have come. Then what is absent from a full list goes.",
		"3. Завершите загрузку, указав число пакетов. Пока пришли не все, будет отказ. Потом исчезнет то, чего нет в полном списке.",
	},
	"feedhelp.api.results": {
		"4. Read the results whenever you like: one line for each item, and a last one that says how the load stands. Without that last line the answer broke off. ?after=2 leaves out the batches up to the second.",
		"4. Результаты можно читать в любое время: по строке на запись и последняя — о самой загрузке. Если последней строки нет, ответ оборван. С ?after=2 пакеты по второй включительно пропускаются.",
	},
	"feedhelp.results":   {"What becomes of items", "Что становится с записями"},
	"feedhelp.added":     {"There is a new post.", "Появилась новая запись."},
	"feedhelp.changed":   {"The post was changed.", "Запись изменена."},
	"feedhelp.same":      {"Nothing is new.", "Ничего нового."},
	"feedhelp.skipped":   {"The post was edited or deleted here, shows nothing of the change, or a filter of the source leaves the item out.", "Запись исправлена или удалена на сайте, изменения в ней не видны или её не пропускает фильтр источника."},
	"feedhelp.rejected":  {"The item is wrong: see its codes. A post that is there already stays.", "В записи ошибка: смотрите её коды. Если она уже есть на сайте, она остаётся прежней."},
	"feedhelp.states":    {"How a load stands", "Состояния загрузки"},
	"feedhelp.receiving": {"Batches may come.", "Можно отправлять пакеты."},
	"feedhelp.finishing": {"What is absent is looked for.", "Ищется то, чего нет в списке."},
	"feedhelp.sweeping":  {"What is absent is removed.", "Убирается то, чего нет в списке."},
	"feedhelp.held":      {"Too much would go: the owner of the source is asked.", "Исчезло бы слишком много: вопрос задан владельцу источника."},
	"feedhelp.done":      {"It is done.", "Готово."},
	"feedhelp.failed":    {"It failed.", "Не получилось."},
	"feedhelp.cancelled": {"Another load was begun.", "Начата другая загрузка."},
	"feedhelp.refusals":  {"Refusals", "Отказы"},
	"feedhelp.refusal": {
		"A refusal is JSON: a stable code, and a text in the language that Accept-Language asks for.",
		"Отказ — это JSON: постоянный код и текст на языке из Accept-Language.",
	},

	"feedhelp.codes":    {"Codes", "Коды"},
	"feedhelp.fatal":    {"The file cannot be used, and nothing of it is applied", "Файл не годится, ничего из него не взято"},
	"feedhelp.errors":   {"Errors: the item is not posted, and counts as present", "Ошибки: запись не публикуется, но считается присутствующей"},
	"feedhelp.warnings": {"Warnings: the item is posted without what is wrong", "Предупреждения: запись публикуется без того, что неверно"},
	"feedhelp.links":    {"The feed cannot be fetched", "Ленту не удаётся забрать"},
}

// fieldTexts say what the fields of our formats are; formats.Fields has the English ones too.
var fieldTexts = texts{
	"id":         {"The key of the item in this file. It stays the same when the item changes.", "Ключ записи в этом файле. Когда запись меняется, он остаётся прежним."},
	"title":      {"One line of plain text.", "Строка простого текста."},
	"text":       {"Plain text. Line breaks are kept.", "Простой текст. Переносы строк сохраняются."},
	"html":       {"The text as HTML, escaped or in CDATA. It is only read if there is no text.", "Текст в HTML, экранированный или в CDATA. Читается, только если нет text."},
	"url":        {"The page of the item.", "Страница записи."},
	"date":       {"When it was published: 2026-11-24T10:00:00Z, or 2026-11-24. Without a zone it is UTC. Items without a date come to the top as they arrive, but those of a first load stand a month back.", "Когда опубликована: 2026-11-24T10:00:00Z или 2026-11-24. Без часового пояса это UTC. Записи без даты встают наверх по мере прихода, а из первой загрузки — на месяц раньше неё."},
	"updated":    {"When it was last changed.", "Когда изменена в последний раз."},
	"author":     {"Who wrote it.", "Автор."},
	"language":   {"Its language, as in BCP 47: en, ru, pt-BR.", "Язык по BCP 47: en, ru, pt-BR."},
	"categories": {"What it is about.", "О чём запись."},
	"place":      {"The name of a place.", "Название места."},
	"latitude":   {"Decimal degrees, -90 to 90. Longitude must be given too.", "Десятичные градусы от -90 до 90. Нужна и долгота."},
	"longitude":  {"Decimal degrees, -180 to 180.", "Десятичные градусы от -180 до 180."},
	"pictures":   {"Addresses of pictures.", "Адреса картинок."},
	"files":      {"Addresses of other files: audio, video, documents.", "Адреса других файлов: звука, видео, документов."},
}
