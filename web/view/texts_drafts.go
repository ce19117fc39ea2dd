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
	"drafts.keep":    {"Keep as draft", "Оставить черновиком"},
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
	"invalid.drafts_many": {
		"You have {most} drafts. Discard some to keep more.",
		"У вас уже {most} черновиков. Выбросьте ненужные, чтобы сохранить новые.",
	},
}
