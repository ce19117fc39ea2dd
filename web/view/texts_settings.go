package view

// settingsTexts are the texts of the settings.
var settingsTexts = texts{
	"settings.title":         {"Settings", "Настройки"},
	"settings.saved":         {"Saved.", "Сохранено."},
	"settings.look":          {"Look and language", "Оформление и язык"},
	"settings.theme":         {"Theme", "Тема"},
	"settings.theme.hint":    {"Applies to this browser.", "Действует в этом браузере."},
	"settings.theme.device":  {"Same as the device", "Как на устройстве"},
	"settings.theme.light":   {"Light", "Светлая"},
	"settings.theme.dark":    {"Dark", "Тёмная"},
	"settings.password.now":  {"Change your password", "Сменить пароль"},
	"settings.keys":          {"Use one-letter keys", "Однобуквенные клавиши"},
	"settings.profile":       {"Profile", "Профиль"},
	"settings.about":         {"About you", "О себе"},
	"settings.save":          {"Save", "Сохранить"},
	"settings.language":      {"Language", "Язык"},
	"settings.language.auto": {"Same as the browser", "Как в браузере"},
	"settings.home":          {"Home and lists", "Лента и списки"},
	"settings.home.activity": {
		"Posts, likes and comments by people you follow",
		"Записи, лайки и комментарии тех, на кого вы подписаны",
	},
	"settings.home.friends":     {"Only posts by people and groups you follow", "Только записи тех, на кого вы подписаны"},
	"settings.access":           {"Who can read your posts", "Кто может вас читать"},
	"settings.access.public":    {"Everyone", "Все"},
	"settings.access.protected": {"Everyone who is signed in", "Все, кто вошёл на сайт"},
	"settings.access.private":   {"Only followers you accept", "Только подписчики, которых вы приняли"},
	"settings.access.members":   {"Only members and readers you add", "Только участники и читатели, которых вы добавите"},
	"settings.access.hint": {
		"Takes effect now, for all posts. Your current followers can still read them.",
		"Действует сразу и для всех записей. Нынешние подписчики смогут читать вас и дальше.",
	},
	"settings.access.hint.group": {
		"Takes effect now, for all posts. Today’s members can still read the group.",
		"Действует сразу и для всех записей. Нынешние участники смогут читать группу и дальше.",
	},
	"settings.access.change": {"Change", "Изменить"},
	"settings.groups":        {"Groups I manage", "Группы, которыми я управляю"},
	"settings.password":      {"Password", "Пароль"},
	"settings.password.old":  {"Current password", "Текущий пароль"},
	"settings.password.new":  {"New password", "Новый пароль"},
	"settings.password.do":   {"Change password", "Сменить пароль"},
	"settings.password.hint": {
		"At least 8 characters. You’ll be signed out everywhere else.",
		"Не короче 8 знаков. Во всех других браузерах вход будет завершён.",
	},
}
