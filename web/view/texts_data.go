package view

// dataTexts are those of the page of the archive of one's own data.
var dataTexts = texts{
	"data.title": {"My data", "Мои данные"},
	"data.now":   {"An archive of what you wrote and set here", "Архив того, что вы здесь написали и настроили"},
	"data.lead": {
		"The archive is a ZIP file with your posts and the comments under them, your own comments, likes, subscriptions and settings, and the files that you uploaded. You can read it in a browser, also without this site, and programs can read it. It holds what you could read when it was made. Messages that others began, notifications and former texts are not in it.",
		"Архив — это ZIP-файл: ваши записи с комментариями, ваши комментарии, лайки, подписки и настройки, а также загруженные вами файлы. Его можно читать в браузере и без этого сайта, могут читать его и программы. В нём то, что вы могли прочитать, когда он создавался. Чужих сообщений, уведомлений и прежних текстов в нём нет.",
	},
	"data.ask":      {"Make the archive", "Создать архив"},
	"data.again":    {"Make a new archive", "Создать новый архив"},
	"data.replaces": {"It takes the place of this one.", "Он заменит этот."},
	"data.waiting":  {"Your archive will be made soon.", "Скоро начнётся создание архива."},
	"data.making":   {"Your archive is being made: {n}%", "Архив создаётся: {n}%"},
	"data.leave":    {"You can leave this page. The archive will be here when you come back.", "Эту страницу можно закрыть: архив будет здесь, когда вы вернётесь."},
	"data.ready":    {"Your archive is ready.", "Архив готов."},
	"data.download": {"Download", "Скачать"},
	"data.made":     {"made", "создан"},
	"data.until":    {"to be downloaded until", "можно скачать до"},
	"data.soon":     {"You can ask for a new one after", "Новый можно будет создать после"},
	"data.failed": {
		"The archive could not be made. Ask for it again. If that does not help, tell the administrators.",
		"Архив создать не удалось. Попробуйте ещё раз. Если не поможет, сообщите администраторам.",
	},
	"invalid.export_soon": {"An archive was made within the last day. Download that one, or ask again tomorrow.", "Архив уже создан в последние сутки. Скачайте его или попробуйте завтра."},
}
