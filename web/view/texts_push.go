package view

// pushTexts are the texts of the pushes to a browser.
var pushTexts = texts{
	"push.on":  {"This browser tells you what is new, also while the site is closed.", "Этот браузер сообщает о новом, даже когда сайт закрыт."},
	"push.off": {"This browser can tell you what is new while the site is closed. Nothing of what people write is sent for that.", "Этот браузер может сообщать о новом, когда сайт закрыт. Ничего из написанного людьми для этого не отправляется."},
	"push.none": {
		"This browser can’t tell you what is new while the site is closed. It needs scripts, and a site on https.",
		"Этот браузер не может сообщать о новом, когда сайт закрыт: нужны скрипты и https.",
	},
	"push.denied": {"You’ve forbidden this site to show notifications. Allow it in the browser’s settings first.", "Вы запретили сайту показывать уведомления. Сначала разрешите их в настройках браузера."},
	"push.failed": {"That didn’t work. Try again later.", "Не получилось. Попробуйте позже."},
	"push.start":  {"Tell me in this browser", "Сообщать в этом браузере"},
	"push.stop":   {"Stop telling me here", "Больше не сообщать"},
}
