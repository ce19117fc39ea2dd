package view

// historyTexts are the texts of the page of a post's edits.
var historyTexts = texts{
	"history.title": {"Edits", "Правки"},
	"history.lead": {
		"What you changed in this post, the last change first. Only you can see this page.",
		"Что изменено в этой записи, начиная с последней правки. Эту страницу видите только вы.",
	},
	"history.post":  {"Open the post", "Открыть запись"},
	"history.none":  {"No edits are kept.", "Сохранённых правок нет."},
	"history.older": {"Earlier edits", "Более ранние правки"},
	"entry.history": {"Show edits", "Показать правки"},
}
