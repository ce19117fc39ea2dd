package view

// draftsTexts are the texts of drafts.
var draftsTexts = texts{
	"drafts.title": {"Drafts", "Черновики"},
	"drafts.lead": {
		"What you haven’t sent yet. Only you can see it, on all your devices.",
		"То, что ещё не отправлено. Это видите только вы, на всех своих устройствах.",
	},
	"drafts.none":    {"You have no drafts.", "Черновиков нет."},
	"drafts.kept":    {"Draft kept", "Черновик сохранён"},
	"drafts.keep":    {"Keep as draft", "В черновики"},
	"drafts.another": {"Start a new one", "Отложить и написать другое"},
	"drafts.replace": {"Keep this text instead", "Оставить вместо него этот текст"},
	"drafts.newer": {
		"There is a newer draft, from another device or tab. It stays until you replace it.",
		"Есть более новый черновик: с другого устройства или из другой вкладки. Он останется, пока вы его не замените.",
	},
	"drafts.newer.text": {"The newer draft", "Более новый черновик"},
	"drafts.replaced": {
		"This text has replaced a draft from another device or tab:",
		"Этот текст заменил черновик с другого устройства или из другой вкладки:",
	},
	"drafts.continue":    {"Continue", "Продолжить"},
	"drafts.continue.of": {"Continue: {what}", "Продолжить: {what}"},
	"drafts.discard":     {"Discard", "Выбросить"},
	"drafts.discard.of":  {"Discard: {what}", "Выбросить: {what}"},
	"drafts.comment":     {"Comment on {post}", "Комментарий к записи: {post}"},
	"drafts.closed":      {"Comment on a post that you can’t see any more", "Комментарий к записи, которая вам больше недоступна"},
	"drafts.message":     {"Message", "Сообщение"},
	"drafts.message.to":  {"Message to {who}", "Сообщение для {who}"},
	"drafts.post.to":     {"Post to {place}", "Запись в {place}"},
	"drafts.listing":     {"Listing in {place}", "Объявление в {place}"},
	"drafts.current":     {"Current", "Текущий"},
	"drafts.parked":      {"Put aside", "Отложен"},
	"visitor.lead": {
		"You can write before you sign in. This site keeps your text for 30 days (for a day when it runs out of room), for this browser only. Sign in or sign up to post it.",
		"Можно начать писать, не входя. Текст хранится 30 дней, а если на сайте не хватит места — сутки, и только для этого браузера. Чтобы опубликовать его, войдите или зарегистрируйтесь.",
	},
	"visitor.to":     {"To, by name", "Куда, по имени"},
	"visitor.others": {"Your other drafts in this browser", "Другие ваши черновики в этом браузере"},
	"visitor.kept": {
		"Kept for 30 days for this browser, or for a day when the site runs out of room.",
		"Сохранено для этого браузера на 30 дней, а если на сайте не хватит места — на сутки.",
	},
	"visitor.gone": {
		"This draft is no longer here. It may have gone to your account. Press the button again, and the text is kept.",
		"Этого черновика здесь уже нет. Возможно, он перешёл в ваш аккаунт. Нажмите кнопку ещё раз, и текст сохранится.",
	},
	"visitor.waits": {
		"Your text is kept. Once you are signed in, it is back, and you can post it.",
		"Ваш текст сохранён. Когда вы войдёте, он вернётся, и его можно будет опубликовать.",
	},
	"visitor.held": {
		"Your text is here. Sign in, and you can post it.",
		"Ваш текст здесь. Войдите, и его можно будет опубликовать.",
	},
	"visitor.many": {
		"You have 5 drafts in this browser. Sign in to keep more.",
		"В этом браузере уже 5 ваших черновиков. Войдите, чтобы сохранить больше.",
	},
	"visitor.full": {
		"This site can’t keep more texts of people who are not signed in. Sign in to keep it.",
		"Сайт не может хранить больше текстов от тех, кто не вошёл. Войдите, чтобы сохранить этот.",
	},
	"invalid.visitor_long": {
		"Until you sign in, a text may have at most {most} characters.",
		"Пока вы не вошли, в тексте может быть не больше {most} знаков.",
	},
	"invalid.drafts_many": {
		"You have {most} drafts. Discard some to keep more.",
		"У вас уже {most} черновиков. Выбросьте ненужные, чтобы сохранить новые.",
	},
}
