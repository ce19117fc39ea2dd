package view

import (
	"strings"

	"riverrun/timelines/rules"
)

// ProblemText says what a problem of a source means, and what can be done about it. The code is one
// of package formats or of sources.Problems. One that is not listed, as of a later version that
// wrote it, is its own text, and nothing is known to do.
func ProblemText(l *Locale, code string) (what, todo string) {
	t, ok := codeTexts[code]
	if !ok {
		return code, ""
	}
	what, todo = t.what.en, t.todo.en
	if l.Lang == "ru" {
		what, todo = t.what.ru, t.todo.ru
	}
	return strings.Replace(what, "{most}", l.Number(mostOfItems[code]), 1), todo
}

// mostOfItems are the bounds of items, by the codes of their rules.
var mostOfItems = func() map[string]int {
	most := map[string]int{}
	for _, r := range rules.For(rules.Item) {
		most[r.Code] = r.Most
	}
	return most
}()

// problemText are the texts of one code.
type problemText struct{ what, todo text }

// codeTexts are the texts of codes. They are no part of the catalogue, whose keys stand in templates.
var codeTexts = map[string]problemText{
	// Problems of a whole file.
	"not_a_feed": {
		text{"The file is no feed that is known here.", "Файл не похож ни на одну ленту, которую сайт умеет читать."},
		text{"Give the address of an RSS, Atom or JSON feed, or a file as described on the help page.", "Укажите адрес ленты RSS, Atom или JSON Feed либо файл, как описано в справке."},
	},
	"page": {
		text{"This is a page, not a feed, and it names no feed.", "Это страница, а не лента, и ссылки на ленту в ней нет."},
		text{"Give the address of the feed itself.", "Укажите адрес самой ленты."},
	},
	"empty": {
		text{"The file is empty.", "Файл пуст."},
		text{"Look whether the server that makes the feed works.", "Проверьте, работает ли сервер, который отдаёт ленту."},
	},
	"malformed": {
		text{"The file is not well-formed.", "Файл составлен с ошибкой."},
		text{"Correct it at the line and column given. A validator for its format shows the same place.", "Исправьте его в указанной строке и колонке. Проверка формата покажет то же место."},
	},
	"truncated": {
		text{"The file ends too early.", "Файл обрывается."},
		text{"Send it again, whole.", "Отправьте его ещё раз целиком."},
	},
	"encoding": {
		text{"The characters of the file cannot be read.", "Символы файла не читаются."},
		text{"Save it as UTF-8, or declare its encoding.", "Сохраните его в UTF-8 или укажите кодировку."},
	},
	"entity": {
		text{"The file declares entities.", "В файле объявлены сущности (ENTITY)."},
		text{"Write the characters themselves. Entities are never read.", "Пишите сами символы: объявления сущностей никогда не читаются."},
	},
	"too_large": {
		text{"The file, or one element of it, is too large.", "Файл или один из его элементов слишком велик."},
		text{"Split it into several sources.", "Разделите его на несколько источников."},
	},
	"too_many": {
		text{"The file has too many items.", "В файле слишком много записей."},
		text{"Split it into several sources.", "Разделите его на несколько источников."},
	},
	"not_loaded": {
		text{"This site could not load the file, and has given it up after many tries.", "Сайт не смог загрузить файл и после многих попыток прекратил."},
		text{"Tell those who run the site, and load the file again later.", "Сообщите тем, кто ведёт сайт, и загрузите файл позже."},
	},
	"place_closed": {
		text{"The author of the source may not post any more where its items go.", "Автору источника больше нельзя писать туда, куда попадают записи."},
		text{"Ask the administrators of the group, or remove the source and add it to another place.", "Обратитесь к администраторам группы либо удалите источник и добавьте его в другом месте."},
	},
	"items_many": {
		text{"The source would have more items than it may, with those that it has already.", "Вместе с прежними записями источник получил бы их больше, чем можно."},
		text{"Remove the source and add it again, or split it into several sources.", "Удалите источник и добавьте его снова либо разделите на несколько."},
	},
	"too_deep": {
		text{"Elements are nested too deep.", "Элементы вложены слишком глубоко."},
		text{"Escape the HTML inside of items.", "Экранируйте HTML внутри записей."},
	},

	// Errors of an item: it is not posted.
	"id_missing": {
		text{"The item has no id.", "У записи нет идентификатора."},
		text{"Give each item an id that stays the same.", "Дайте каждой записи постоянный идентификатор."},
	},
	"id_long": {
		text{"The id is longer than {most} bytes.", "Идентификатор длиннее {most} байт."},
		text{"Use a shorter id.", "Возьмите идентификатор короче."},
	},
	"id_control": {
		text{"The id has control characters.", "В идентификаторе есть управляющие символы."},
		text{"Use letters, digits and signs only.", "Используйте только буквы, цифры и знаки."},
	},
	"id_repeated": {
		text{"An item before it has the same id. The first one counts.", "Такой же идентификатор есть у записи выше. Учтена первая."},
		text{"Give each item an id of its own.", "Дайте каждой записи свой идентификатор."},
	},
	"title_and_text_missing": {
		text{"The item has nothing to show: no title, text, address, picture or file.", "В записи нечего показать: нет ни заголовка, ни текста, ни адреса, ни картинки, ни файла."},
		text{"Give it a title or a text.", "Добавьте заголовок или текст."},
	},
	"item_large": {
		text{"The item is too large to be read.", "Запись слишком велика."},
		text{"Make it smaller; give addresses of pictures instead of their data.", "Сократите её: вместо самих картинок дайте их адреса."},
	},
	"item_invalid": {
		text{"The item cannot be read.", "Запись не читается."},
		text{"Correct it at the line given.", "Исправьте её в указанной строке."},
	},
	"number_of_fields": {
		text{"The row has another number of fields than the first row.", "В строке не столько полей, сколько в первой."},
		text{"Quote fields that contain separators or line breaks.", "Заключите в кавычки поля с разделителями и переносами строк."},
	},

	// Warnings: the item is posted without the wrong part.
	"title_long": {
		text{"The title was cut at {most} characters.", "Заголовок обрезан до {most} символов."},
		text{"Shorten it.", "Сократите его."},
	},
	"text_long": {
		text{"The text was cut at {most} characters.", "Текст обрезан до {most} символов."},
		text{"Shorten it.", "Сократите его."},
	},
	"text_broken": {
		text{"Some characters could not be read.", "Часть символов не читается."},
		text{"Save the file as UTF-8, and cut texts between characters.", "Сохраните файл в UTF-8 и обрезайте тексты между символами."},
	},
	"url_invalid": {
		text{"The address is not one of the web and was left out.", "Это не адрес в интернете, он пропущен."},
		text{"Write it in full, with https://.", "Напишите его целиком, с https://."},
	},
	"url_long": {
		text{"The address is longer than {most} bytes and was left out.", "Адрес длиннее {most} байт, он пропущен."},
		text{"Use a shorter address.", "Возьмите адрес короче."},
	},
	"date_invalid": {
		text{"The date cannot be read. The item is taken as new.", "Дата не читается. Запись считается новой."},
		text{"Write it as 2026-11-24T10:00:00Z.", "Напишите её так: 2026-11-24T10:00:00Z."},
	},
	"date_future": {
		text{"The date is more than a day ahead. The item is taken as new.", "До этой даты больше суток. Запись считается новой."},
		text{"Set the clock or the date right.", "Исправьте дату или часы."},
	},
	"date_old": {
		text{"The date is before 1970. The item is taken as new.", "Дата раньше 1970 года. Запись считается новой."},
		text{"Set the date right.", "Исправьте дату."},
	},
	"author_long": {
		text{"The author's name was cut at {most} characters.", "Имя автора обрезано до {most} символов."},
		text{"Shorten it.", "Сократите его."},
	},
	"category_many": {
		text{"Only the first {most} categories were taken.", "Взяты только первые {most} категорий."},
		text{"Use fewer.", "Укажите меньше."},
	},
	"category_long": {
		text{"A category of more than {most} characters was left out.", "Категория длиннее {most} символов пропущена."},
		text{"Shorten it.", "Сократите её."},
	},
	"language_unknown": {
		text{"The language is unknown and was left out.", "Такой язык неизвестен, он пропущен."},
		text{"Use a code such as en or pt-BR.", "Укажите код, например en или pt-BR."},
	},
	"place_invalid": {
		text{"The place has a name of more than {most} characters, or coordinates that are not degrees. It was left out.", "Название места длиннее {most} символов, или координаты не похожи на градусы. Место пропущено."},
		text{"Shorten the name; write decimal degrees, latitude and longitude.", "Сократите название; широту и долготу напишите в десятичных градусах."},
	},
	"picture_invalid": {
		text{"The address of a picture is not one of the web and was left out.", "Адрес картинки не из интернета, она пропущена."},
		text{"Write it in full, with https://.", "Напишите его целиком, с https://."},
	},
	"picture_many": {
		text{"Only the first {most} pictures were taken.", "Взяты только первые {most} картинок."},
		text{"Use fewer.", "Укажите меньше."},
	},
	"file_invalid": {
		text{"The address of a file is not one of the web and was left out.", "Адрес файла не из интернета, файл пропущен."},
		text{"Write it in full, with https://.", "Напишите его целиком, с https://."},
	},
	"file_many": {
		text{"Only the first {most} files were taken.", "Взяты только первые {most} файлов."},
		text{"Use fewer.", "Укажите меньше."},
	},
	"field_unknown": {
		text{"A field has an unknown name and was left out.", "Поля с таким именем нет, оно пропущено."},
		text{"Compare its name with the table on the help page.", "Сверьте имя с таблицей в справке."},
	},
	"field_twice": {
		text{"A field is given twice. The first one counts.", "Поле указано дважды. Учтено первое."},
		text{"Give it once.", "Укажите его один раз."},
	},
	"field_invalid": {
		text{"The value of a field has the wrong form.", "Значение поля записано не так."},
		text{"Compare it with the example on the help page.", "Сверьте его с примером в справке."},
	},
	"body_long": {
		text{"Title, text, addresses and tags make more than {most} characters. The text was cut, or files were left out.", "Заголовок, текст, адреса и метки вместе длиннее {most} символов. Текст обрезан, или часть файлов пропущена."},
		text{"Shorten the text, or the addresses.", "Сократите текст или адреса."},
	},
	"to_forbidden": {
		text{"Whoever added the source may not post to the group that a category of the item leads to, or where its post is. The item was not posted, or its post not changed.", "Тому, кто добавил источник, нельзя писать в группу, куда ведёт рубрика записи, или туда, где стоит её публикация. Запись не опубликована или не изменена."},
		text{"Change the rule, take the post out of there, or ask the administrators of the group: the next load tries again.", "Измените правило, уберите публикацию оттуда или обратитесь к администраторам группы: следующая загрузка попробует ещё раз."},
	},
	"elsewhere": {
		text{"Another source of the same owner has an item with this address. Both were posted.", "Запись с этим адресом есть и в другом вашем источнике. Опубликованы обе."},
		text{"Remove one of the sources, or let a rule of one leave such items out.", "Удалите один из источников или исключите такие записи правилом."},
	},
	"text_around": {
		text{"Words or scripts stand before or behind the feed, and were left out.", "До или после ленты стоят посторонние слова или скрипты; они пропущены."},
		text{"Look for warnings of the program that makes the feed, and for scripts that the server adds.", "Поищите предупреждения программы, которая составляет ленту, и скрипты, которые добавляет сервер."},
	},
	"encoding_guessed": {
		text{"The file is in another encoding than the server says, or nothing says in which. It was told by the bytes.", "Файл не в той кодировке, о которой говорит сервер, или кодировка не указана. Она определена по самим байтам."},
		text{"Save the file as UTF-8, or declare its encoding.", "Сохраните файл в UTF-8 или укажите его кодировку."},
	},
	"problem_many": {
		text{"The item has more problems than are listed.", "У записи больше ошибок, чем перечислено."},
		text{"Correct the first ones.", "Исправьте первые."},
	},

	// Problems of a link.
	"address_invalid": {
		text{"The address cannot be fetched, or it redirects to one that cannot.", "По этому адресу ничего нельзя скачать, или он перенаправляет на такой адрес."},
		text{"Give a full address with http:// or https://.", "Укажите полный адрес с http:// или https://."},
	},
	"address_forbidden": {
		text{"The address is not a public one.", "Этот адрес не в открытом интернете."},
		text{"Give an address that everybody can open, or ask this site's administrator to allow the network.", "Укажите адрес, доступный всем, или попросите администратора сайта разрешить эту сеть."},
	},
	"name_unknown": {
		text{"There is no server of that name.", "Сервера с таким именем нет."},
		text{"Look for typing mistakes in the address.", "Проверьте, нет ли опечатки в адресе."},
	},
	"not_reached": {
		text{"The server cannot be reached.", "Сервер недоступен."},
		text{"It is tried again by itself. If that goes on, ask whoever runs that server.", "Сайт попробует ещё раз сам. Если так и останется, спросите у владельца сервера."},
	},
	"proxy_failed": {
		text{"This site's proxy makes no connection.", "Прокси этого сайта не устанавливает соединение."},
		text{"Tell this site's administrator.", "Сообщите администратору сайта."},
	},
	"not_secure": {
		text{"No secure connection can be made, or a redirect leads from https to http.", "Безопасное соединение не устанавливается, или перенаправление ведёт с https на http."},
		text{"Whoever runs that server has to renew its certificate or correct the redirect.", "Владельцу сервера нужно обновить сертификат или исправить перенаправление."},
	},
	"timed_out": {
		text{"The server took too long.", "Сервер отвечает слишком долго."},
		text{"It is tried again by itself. If that goes on, make the feed smaller or its server faster.", "Сайт попробует ещё раз сам. Если так и останется, сократите ленту или ускорьте её сервер."},
	},
	"redirects": {
		text{"The address redirects too often.", "Слишком много перенаправлений."},
		text{"Give the address where the feed is now.", "Укажите адрес, где лента находится сейчас."},
	},
	"bad_encoding": {
		text{"The answer is compressed in a way that was not asked for.", "Ответ сжат способом, о котором сайт не просит."},
		text{"The server has to send the feed plain or with gzip.", "Сервер должен отдавать ленту без сжатия или с gzip."},
	},
	"bad_answer": {
		text{"The answer broke off, or is no HTTP.", "Ответ обрывается, или это не HTTP."},
		text{"It is tried again by itself. If that goes on, ask whoever runs that server.", "Сайт попробует ещё раз сам. Если так и останется, спросите у владельца сервера."},
	},
	"url_taken": {
		text{"The page names a feed that is a source here already.", "Страница ведёт на ленту, которая здесь уже есть среди источников."},
		text{"Remove one of the two.", "Удалите один из двух источников."},
	},
	"unauthorized": {
		text{"The server wants a sign-in (401).", "Сервер требует входа (401)."},
		text{"Give an address that everybody can open.", "Укажите адрес, доступный всем."},
	},
	"denied": {
		text{"The server refuses to send the feed (403).", "Сервер отказывается отдавать ленту (403)."},
		text{"Ask whoever runs that server to let this site in.", "Попросите владельца сервера открыть доступ этому сайту."},
	},
	"not_found": {
		text{"There is nothing at that address (404).", "По этому адресу ничего нет (404)."},
		text{"Look where the feed is now, and give that address.", "Узнайте, где лента теперь, и укажите этот адрес."},
	},
	"gone": {
		text{"The feed is gone for good (410). The source is paused.", "Ленты больше нет (410). Источник на паузе."},
		text{"Remove the source, or resume it if the feed comes back.", "Удалите источник или снимите с паузы, если лента вернётся."},
	},
	"too_often": {
		text{"The server asks to be left alone for some time.", "Сервер просит некоторое время его не беспокоить."},
		text{"Nothing: it is asked again after that time.", "Ничего: по истечении этого времени сайт обратится к нему снова."},
	},
	"server_fails": {
		text{"The server fails (5xx).", "На сервере сбой (5xx)."},
		text{"It is tried again by itself. If that goes on, ask whoever runs that server.", "Сайт попробует ещё раз сам. Если так и останется, спросите у владельца сервера."},
	},
	"bad_status": {
		text{"The server answers neither with the feed nor with a known error.", "Сервер не отдаёт ленту и не называет известной ошибки."},
		text{"Open the address in a browser and look what comes.", "Откройте адрес в браузере и посмотрите, что приходит."},
	},
	// Problems of a picture of an item, which comes later.
	"picture_not_found": {
		text{"There is no picture at this address.", "По этому адресу нет картинки."},
		text{"Correct the address, or publish the picture there.", "Исправьте адрес или опубликуйте по нему картинку."},
	},
	"picture_denied": {
		text{"The server refuses the picture.", "Сервер отказывается отдавать картинку."},
		text{"Let everybody read the picture.", "Откройте картинку для всех."},
	},
	"picture_unreachable": {
		text{"The picture could not be fetched, though it was tried several times.", "Картинку не удалось получить с нескольких попыток."},
		text{"Look whether the address works from elsewhere, and whether its server answers in time.", "Проверьте, открывается ли адрес из других мест и быстро ли отвечает сервер."},
	},
	"picture_too_large": {
		text{"The picture is too large.", "Картинка слишком велика."},
		text{"Give the address of a smaller one: at most 20 MB and 50 megapixels.", "Укажите адрес картинки поменьше: не больше 20 МБ и 50 мегапикселей."},
	},
	"picture_not_a_picture": {
		text{"What stands at this address is no JPEG, PNG, GIF or WebP picture, or is damaged.", "По этому адресу не картинка JPEG, PNG, GIF или WebP, либо файл повреждён."},
		text{"Give the address of the picture itself, not of a page that shows it.", "Укажите адрес самой картинки, а не страницы, на которой она показана."},
	},
	"picture_forbidden_address": {
		text{"The address is not a public one, and was not asked.", "Адрес не публичный, сайт к нему не обращается."},
		text{"Publish the picture on a public server.", "Разместите картинку на сервере, доступном всем."},
	},
}

// CallText says what a refusal of the push API means.
func CallText(l *Locale, code string) string {
	t := callTexts[code]
	if l.Lang == "ru" {
		return t.ru
	}
	return t.en
}

// callTexts are the texts of refusals, which the help page lists too.
var callTexts = texts{
	"token_wrong":     {"There is no source with this address and this token.", "Источника с таким адресом и ключом нет."},
	"load_unknown":    {"The source has no load of this number.", "Загрузки с таким номером у источника нет."},
	"source_other":    {"The items of this source come in another way.", "Записи этого источника приходят другим способом."},
	"source_paused":   {"The source is paused. Its owner can resume it.", "Источник на паузе. Снять её может владелец."},
	"load_ended":      {"The load has ended, or another one has begun since.", "Загрузка завершена, или после неё начата другая."},
	"batch_used":      {"A batch of this number came before, with another body.", "Пакет с этим номером уже приходил, с другим содержимым."},
	"batch_number":    {"Batches are numbered from 1.", "Пакеты нумеруются с 1."},
	"batch_large":     {"A batch has 500 items at most.", "В пакете не больше 500 записей."},
	"items_many":      {"The source would have more items than it may.", "У источника стало бы больше записей, чем можно."},
	"batches_missing": {"Batches are missing: see the numbers in \"missing\", 20 at most. Send them, and finish again.", "Пришли не все пакеты: номера указаны в «missing», не больше 20. Отправьте их и завершите загрузку снова."},
	"batches_more":    {"More batches came than that.", "Пакетов пришло больше."},
	"body_large":      {"The body is too large: a batch has 4 MiB at most.", "Тело запроса слишком велико: в пакете не больше 4 МиБ."},
	"body_invalid":    {"The request is not of the form that the help page shows.", "Запрос составлен не так, как показано в справке."},
	"place_closed":    {"Whoever added the source may not post there any more.", "У добавившего источник больше нет права писать туда."},
	"limited":         {"Too many requests, or too many bytes. Try again after the time of Retry-After.", "Слишком много запросов или данных. Повторите через время из Retry-After."},
	"stalled":         {"The request did not arrive in time. Send it again.", "Запрос не пришёл вовремя. Отправьте его ещё раз."},
	"source_busy":     {"The source is being worked. Try again after the time of Retry-After.", "С источником сейчас идёт работа. Повторите через время из Retry-After."},
	"site_busy":       {"The site is busy. Try again after the time of Retry-After; nothing is done twice.", "Сайт занят. Повторите через время из Retry-After; дважды ничего не сделается."},
	"fault":           {"Something broke here. Send it again later; nothing is done twice.", "На сайте сбой. Повторите позже; дважды ничего не сделается."},
}
