package view

// waitingTexts are the texts about groups that let posts in one by one.
var waitingTexts = texts{
	"waiting.set.title": {"Approval", "Одобрение записей"},
	"waiting.set":       {"Posts wait for approval", "Записи ждут одобрения"},
	"waiting.set.hint": {
		"Posts of others than administrators wait until an administrator lets them in. Comments do not wait. If you turn this off, what waits already goes on waiting. Sources of others can’t bring posts here.",
		"Записи всех, кроме администраторов, ждут, пока администратор их не пропустит. Комментарии не ждут. Если выключить это, всё, что уже ждёт, будет ждать и дальше. Источники других людей не смогут приносить сюда записи.",
	},
	"waiting.title":          {"Posts that wait for {group}", "Записи ждут одобрения: {group}"},
	"waiting.lead":           {"Only their authors and the administrators of the group see them.", "Их видят только авторы и администраторы группы."},
	"waiting.none":           {"No posts wait for approval.", "Ни одна запись не ждёт одобрения."},
	"waiting.whole":          {"The whole text", "Весь текст"},
	"waiting.publish":        {"Publish", "Опубликовать"},
	"waiting.refuse":         {"Do not publish", "Не публиковать"},
	"waiting.reason":         {"Reason", "Причина"},
	"waiting.reason.hint":    {"Optional. The author reads it.", "Можно не указывать. Её прочтёт автор."},
	"waiting.done.published": {"The post is let in.", "Запись пропущена."},
	"waiting.done.refused":   {"The group does not publish the post. Its author is told.", "Группа не публикует запись. Автор узнает об этом."},
	"waiting.done.late":      {"This post does not wait any more.", "Эта запись больше не ждёт."},

	"compose.waits": {"Posts to this group wait until an administrator lets them in.", "Записи в эту группу ждут, пока администратор их не пропустит."},

	"alerts.held":     {"Posts and approval", "Записи и одобрение"},
	"alerts.approval": {"Posts wait in {group}", "Записи ждут одобрения в группе {group}"},
	"alerts.blocked":  {"Your post was blocked by the moderators: {post}", "Модераторы заблокировали вашу запись: {post}"},
	"alerts.refused":  {"{group} did not take your post: {post}", "Группа {group} не приняла вашу запись: {post}"},
}
