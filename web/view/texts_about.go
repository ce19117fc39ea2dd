package view

// aboutTexts are the texts of what the host says of the site: /about, the rules, and the form of
// these below /admin.
var aboutTexts = texts{
	"about.link":  {"About", "О сайте"},
	"about.title": {"About {site}", "О сайте {site}"},
	"about.riverrun": {
		"This site runs riverrun: people and groups post here, talk under posts, and every page updates as you read.",
		"Этот сайт работает на riverrun: люди и группы пишут здесь записи, обсуждают их, а страницы обновляются на глазах.",
	},
	"about.contact": {"Contact", "Связь"},
	"about.staff":   {"In charge", "Управление"},

	"rules.title": {"Rules", "Правила"},
	"rules.lead": {
		"Please read the rules of this site. Once you agree to them, you go on where you were.",
		"Пожалуйста, прочитайте правила этого сайта. Согласитесь с ними, и можно продолжать.",
	},
	"rules.kept": {
		"Your text is still here. It is sent when you agree to the rules.",
		"Ваш текст остался здесь. Он отправится, когда вы согласитесь с правилами.",
	},
	"rules.agree": {"I agree to the rules", "Соглашаюсь с правилами"},
	"rules.go":    {"Go on", "Продолжить"},
	"rules.else": {
		"Everything that is open to you can still be read, and your settings are open.",
		"Всё, что вам открыто, по-прежнему можно читать. Доступны и настройки.",
	},
	"error.rules.title": {"The rules have changed", "Правила изменились"},
	"error.rules": {
		"Please agree to the rules of this site first. They are at /rules.",
		"Сначала согласитесь с правилами этого сайта. Они на странице /rules.",
	},
	"error.contact": {"Contact:", "Связь:"},

	"admin.site":      {"Site", "Сайт"},
	"admin.site.now":  {"Name, rules, contact, language", "Название, правила, связь, язык"},
	"admin.site.name": {"Name", "Название"},
	"admin.site.hint.name": {
		"It stands in the head of each page. If it is empty, the site is called riverrun.",
		"Стоит в шапке каждой страницы. Если пусто, сайт называется riverrun.",
	},
	"admin.site.mark": {"Mark", "Знак"},
	"admin.site.hint.mark": {
		"A letter or two, or an emoji. It stands beside the name and is the picture of the site in browsers.",
		"Одна или две буквы или эмодзи. Стоит рядом с названием и обозначает сайт в браузере.",
	},
	"admin.site.purpose":      {"Purpose", "О чём сайт"},
	"admin.site.hint.purpose": {"One line that says what the site is for.", "Одна строка о том, для чего этот сайт."},
	"admin.site.about":        {"About the site", "О сайте"},
	"admin.site.hint.about":   {"It stands on /about. Text is formatted as in posts.", "Показывается на странице /about. Оформление — как в записях."},
	"admin.site.rules":        {"Rules", "Правила"},
	"admin.site.hint.rules": {
		"People agree to them when they sign up. When there are rules for the first time, everybody is asked.",
		"С ними соглашаются при регистрации. Когда правила появляются впервые, спрашивают всех.",
	},
	"admin.site.again":        {"Ask everybody to agree again", "Спросить всех снова"},
	"admin.site.contact":      {"Contact", "Связь"},
	"admin.site.hint.contact": {"An address of mail, or of a page with https://. Error pages show it.", "Адрес почты или страницы с https://. Его показывают страницы ошибок."},
	"admin.site.language":     {"Language", "Язык"},
	"admin.site.hint.language": {
		"For people who have chosen no language, if their browser asks for none of ours.",
		"Для тех, кто не выбрал язык, если и браузер не просит ни один из наших.",
	},
	"admin.site.language.none": {"No choice", "Без выбора"},
	"admin.site.indexed":       {"Search engines may list public pages", "Поисковикам можно показывать открытые страницы"},
	"admin.site.saved":         {"Saved.", "Сохранено."},

	"invalid.mark_long":   {"Give one or two characters, or an emoji.", "Укажите один или два знака или эмодзи."},
	"invalid.rules_agree": {"Please agree to the rules.", "Пожалуйста, согласитесь с правилами."},
}
