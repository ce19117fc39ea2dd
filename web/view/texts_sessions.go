package view

// sessionsTexts are the texts of the page of sessions, and of what people hear about their
// account.
var sessionsTexts = texts{
	"sessions.title":       {"Where you’re signed in", "Где вы вошли"},
	"sessions.now":         {"Browsers, and when each was used", "Браузеры и время их использования"},
	"sessions.lead":        {"Each browser in which you’re signed in. If you don’t know one, end it and choose another password.", "Все браузеры, в которых вы вошли. Если какой-то вам незнаком, завершите его сеанс и смените пароль."},
	"sessions.here":        {"this browser", "этот браузер"},
	"sessions.used":        {"used", "использован"},
	"sessions.since":       {"signed in", "вход"},
	"sessions.unknown":     {"an unknown browser", "неизвестный браузер"},
	"sessions.end":         {"End", "Завершить"},
	"sessions.end.of":      {"End: {device}, {at}", "Завершить: {device}, {at}"},
	"sessions.endall":      {"End all others", "Завершить все остальные"},
	"sessions.endall.hint": {"This ends your app tokens too.", "Ваши токены приложений тоже перестанут действовать."},
	"sessions.ended":       {"Ended.", "Завершено."},

	"sessions.event.signin":   {"New sign-in: {device},", "Новый вход: {device},"},
	"sessions.event.password": {"Your password was changed", "Ваш пароль изменён"},
	"sessions.look":           {"Look", "Посмотреть"},
	"sessions.mine":           {"It was me", "Это я"},
}
