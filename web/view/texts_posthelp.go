package view

// postHelpTexts are the texts of the page of what a post can have. The page says of a rule the text of its
// error.
var postHelpTexts = texts{
	"posthelp.title": {"What a post can have", "Что может быть в записи"},
	"posthelp.lead": {
		"How long things may be, and how many. The forms of this site, programs and sources keep to the same table, and name a fault by the same codes. Beside each code stands what is said to somebody who goes beyond it. How items come is told in {feeds}.",
		"Сколько чего может быть и какой длины. Формы сайта, программы и источники сверяются с одной таблицей и называют ошибку одним и тем же кодом. Рядом с кодом стоит то, что увидит вышедший за предел. О том, как приходят записи из источников, рассказано в разделе «{feeds}».",
	},

	"posthelp.of.post":        {"Posts", "Записи"},
	"posthelp.of.destination": {"Where a post goes", "Куда идёт запись"},
	"posthelp.of.file":        {"Files", "Файлы"},
	"posthelp.of.listing":     {"Listings", "Объявления"},
	"posthelp.of.comment":     {"Comments", "Комментарии"},
	"posthelp.of.draft":       {"Drafts", "Черновики"},
	"posthelp.of.item":        {"Items of sources", "Записи из источников"},
	"posthelp.of.account":     {"People and groups", "Люди и группы"},

	"posthelp.field.body":       {"Text", "Текст"},
	"posthelp.field.language":   {"Language", "Язык"},
	"posthelp.field.key":        {"The form itself", "Сама форма"},
	"posthelp.field.to":         {"Places", "Места публикации"},
	"posthelp.field.file":       {"Pictures and files", "Картинки и файлы"},
	"posthelp.field.price":      {"Price", "Цена"},
	"posthelp.field.currency":   {"Currency", "Валюта"},
	"posthelp.field.place":      {"Place", "Место"},
	"posthelp.field.condition":  {"Condition", "Состояние"},
	"posthelp.field.until":      {"Until when", "До какого дня"},
	"posthelp.field.title":      {"Title", "Заголовок"},
	"posthelp.field.about":      {"Description", "Описание"},
	"posthelp.field.whole":      {"The item itself", "Запись целиком"},
	"posthelp.field.id":         {"Id", "Идентификатор"},
	"posthelp.field.text":       {"Text as it comes", "Текст, как он приходит"},
	"posthelp.field.url":        {"Address", "Адрес"},
	"posthelp.field.date":       {"Date", "Дата"},
	"posthelp.field.author":     {"Author", "Автор"},
	"posthelp.field.categories": {"Categories", "Категории"},
	"posthelp.field.pictures":   {"Pictures", "Картинки"},
	"posthelp.field.files":      {"Other files", "Другие файлы"},

	"posthelp.unit.characters": {"At most {n} characters.", "Не больше {n} знаков."},
	"posthelp.unit.bytes":      {"At most {n} bytes.", "Не больше {n} байт."},
	"posthelp.unit.megabytes":  {"At most {n} MB each.", "Не больше {n} МБ каждый."},
	"posthelp.unit.values":     {"At most {n}.", "Не больше {n}."},
	"posthelp.unit.cents":      {"From 0 to {n}.", "От 0 до {n}."},
	"posthelp.unit.days_least": {"Days from today, at least: {n}.", "Дней от сегодняшнего, не меньше: {n}."},
	"posthelp.unit.days_most":  {"Days from today, at most: {n}.", "Дней от сегодняшнего, не больше: {n}."},
	"posthelp.unit.words":      {"One of: {list}.", "Одно из: {list}."},

	"posthelp.effect.refused":  {"The item is not posted.", "Запись не публикуется."},
	"posthelp.effect.cut":      {"The item is posted with what fits, and the load lists a warning.", "Публикуется то, что помещается; загрузка показывает предупреждение."},
	"posthelp.effect.left_out": {"The item is posted without that value, and the load lists a warning.", "Запись публикуется без этого значения; загрузка показывает предупреждение."},
}
