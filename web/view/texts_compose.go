package view

// composeTexts are the texts of the forms that write, change and delete.
var composeTexts = texts{
	"compose.close":          {"Close", "Закрыть"},
	"compose.title":          {"New post", "Новая запись"},
	"compose.placeholder":    {"What’s new?", "Что нового?"},
	"compose.body":           {"Post text", "Текст записи"},
	"compose.post":           {"Post", "Опубликовать"},
	"compose.send":           {"Send", "Отправить"},
	"compose.to":             {"To", "Куда"},
	"compose.to.own":         {"My page", "Моя страница"},
	"compose.to.eyes":        {"Only me", "Только я"},
	"compose.to.people":      {"To people", "Людям"},
	"compose.to.people.hint": {"usernames, separated by spaces", "имена пользователей через пробел"},
	"compose.to.none": {
		"If you choose nothing, the post goes to your page.",
		"Если ничего не выбрать, запись появится на вашей странице.",
	},
	"compose.language":      {"Language", "Язык"},
	"compose.language.auto": {"Detect automatically", "Определить автоматически"},
	"compose.message":       {"Send a message", "Написать сообщение"},
	"compose.message.hint": {
		"Only you and the people you name can read this.",
		"Это прочтёте только вы и те, кого вы укажете.",
	},
	"edit.post.title":   {"Edit post", "Изменить запись"},
	"edit.files.hint":   {"A file that you uncheck is removed.", "Файл, с которого снять отметку, будет убран."},
	"edit.places.title": {"Visible in", "Где опубликовано"},
	"edit.places.hint": {
		"Takes effect now. People who can’t read any of these lose access.",
		"Действует сразу. Те, кто не может читать ни одно из этих мест, потеряют доступ.",
	},
	"remove.title": {"Remove from group", "Убрать из группы"},
	"remove.sure": {
		"The post will no longer be in {group}. If it’s nowhere else, only its author will see it.",
		"Записи больше не будет в группе {group}. Если она больше нигде не опубликована, её будет видеть только автор.",
	},
	"remove.do":          {"Remove", "Убрать"},
	"edit.comment.title": {"Edit comment", "Изменить комментарий"},
	"edit.save":          {"Save", "Сохранить"},
	"edit.cancel":        {"Cancel", "Отмена"},
	"delete.post.title":  {"Delete post", "Удалить запись"},
	"delete.post.sure": {
		"This deletes the post with all its comments and likes. It can’t be undone.",
		"Запись будет удалена вместе с комментариями и лайками. Вернуть её будет нельзя.",
	},
	"delete.comment.title": {"Delete comment", "Удалить комментарий"},
	"delete.comment.sure":  {"This can’t be undone.", "Вернуть его будет нельзя."},
}
