package view

// scheduledTexts are the texts of posts that are to be published at a time.
var scheduledTexts = texts{
	"later.title": {"Later", "Позже"},
	"later.due":   {"Publish at", "Опубликовать"},
	"later.zone":  {"Time zone", "Часовой пояс"},
	"later.hint": {
		"The time is read in this time zone. Without a time the post is published at once. A draft doesn’t keep the time.",
		"Время считается в этом часовом поясе. Если время не указать, запись появится сразу. В черновике время не сохраняется.",
	},
	"later.hint.edit": {
		"The time is read in this time zone. Without a time “Save” publishes the post at once.",
		"Время считается в этом часовом поясе. Без времени кнопка «Сохранить» сразу опубликует запись.",
	},
	"scheduled.title": {"Scheduled", "Отложенные"},
	"scheduled.lead": {
		"What will be published at the time you chose. Until then only you can see it.",
		"То, что появится в выбранное вами время. До тех пор это видите только вы.",
	},
	"scheduled.none":         {"Nothing is scheduled. Open “Later” below a new post to choose a time for it.", "Отложенных записей нет. Чтобы выбрать время, откройте «Позже» под новой записью."},
	"scheduled.at":           {"{when} ({zone})", "{when} ({zone})"},
	"scheduled.failed":       {"Not published: {why}", "Не опубликовано: {why}"},
	"scheduled.edit":         {"Edit", "Изменить"},
	"scheduled.edit.of":      {"Edit: {what}", "Изменить: {what}"},
	"scheduled.edit.title":   {"Edit scheduled post", "Изменить отложенную запись"},
	"scheduled.save":         {"Save", "Сохранить"},
	"scheduled.publish":      {"Publish now", "Опубликовать сейчас"},
	"scheduled.publish.of":   {"Publish now: {what}", "Опубликовать сейчас: {what}"},
	"scheduled.cancel":       {"Cancel", "Отменить"},
	"scheduled.cancel.of":    {"Cancel: {what}", "Отменить: {what}"},
	"scheduled.cancel.title": {"Cancel scheduled post", "Отменить отложенную запись"},
	"scheduled.cancel.sure": {
		"Its text can’t become a draft, because you have 100 drafts. If you cancel it now, the text is gone.",
		"Её текст не станет черновиком: у вас уже 100 черновиков. Если отменить её сейчас, текст пропадёт.",
	},
	"scheduled.cancel.do":   {"Throw the text away", "Выбросить текст"},
	"scheduled.cancel.keep": {"Keep it scheduled", "Оставить отложенной"},
	"scheduled.gone": {
		"This scheduled post has been published, changed or cancelled meanwhile. If you send the form again, it makes another post.",
		"Эта отложенная запись за это время опубликована, изменена или отменена. Если отправить форму ещё раз, получится другая запись.",
	},
	"scheduled.alert":          {"A post that you scheduled could not be published: {post}", "Отложенная запись не опубликована: {post}"},
	"invalid.due_format":       {"Write the time as a date and an hour, such as 2026-12-31T18:30.", "Укажите дату и время, например 2026-12-31T18:30."},
	"invalid.due_zone":         {"There is no such time zone. Write UTC, or a name such as Europe/Berlin.", "Такого часового пояса нет. Напишите UTC или, например, Europe/Berlin."},
	"invalid.due_past":         {"Choose a time that is at least a minute ahead.", "Выберите время хотя бы на минуту позже, чем сейчас."},
	"invalid.due_far":          {"Choose a time within a year.", "Выберите время в пределах года."},
	"invalid.due_listing":      {"A listing can’t be published later. Send it now, or write a post without a price.", "Объявление нельзя отложить. Опубликуйте его сейчас или напишите запись без цены."},
	"invalid.scheduled_many":   {"You have scheduled {most} posts. Cancel or publish some to schedule more.", "У вас уже {most} отложенных записей. Отмените или опубликуйте часть, чтобы добавить новые."},
	"invalid.author_suspended": {"Your account was suspended at that time.", "В то время ваш аккаунт был приостановлен."},
	"invalid.author_leaving":   {"Your account was to be deleted at that time.", "В то время ваш аккаунт ждал удаления."},
	"invalid.author_stranger":  {"On your first day you can publish {most} posts an hour.", "В первый день можно публиковать записей в час: {most}."},
}
