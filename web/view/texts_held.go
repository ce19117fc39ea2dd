package view

// heldTexts are the texts about posts that only their author sees: blocked by moderators, or waiting for a group.
var heldTexts = texts{
	"held.blocked":      {"The moderators blocked this post. Only you see it.", "Модераторы заблокировали эту запись. Её видите только вы."},
	"held.appeal":       {"Appeal against it", "Обжаловать"},
	"held.appealed":     {"Your appeal waits for an answer.", "Ваше обращение ждёт ответа."},
	"held.waiting":      {"This post waits for the approval of {groups}. Until then only you see it.", "Эта запись ждёт одобрения: {groups}. До этого её видите только вы."},
	"held.waiting.gone": {"The group that this post waited for is gone. Only you see it.", "Группы, которой ждала эта запись, больше нет. Её видите только вы."},
	"held.stop":         {"Don’t wait", "Не ждать"},
	"held.stop.hint": {
		"If you don’t wait, it is published in its other places, or stays for you alone.",
		"Если не ждать, она появится в остальных местах или останется только у вас.",
	},

	"appeal.post.title":     {"Appeal against a block", "Обжалование блокировки"},
	"appeal.post.lead":      {"The moderators read your appeal, with the text of your post as it is now. They said:", "Модераторы прочтут ваше обращение и текст записи в его нынешнем виде. Они написали:"},
	"appeal.post.text":      {"Why is the block wrong?", "Почему блокировка ошибочна?"},
	"appeal.post.text.hint": {"You may change the post first.", "Сначала можно исправить запись."},
	"appeal.post.send":      {"Send the appeal", "Отправить"},

	"admin.opinion.blocked":  {"This post is blocked: only its author sees it.", "Запись заблокирована: её видит только автор."},
	"admin.opinion.lead":     {"Block a post to take it off all pages. Its author keeps it, reads your reason and may appeal.", "Заблокированная запись исчезает со всех страниц. Она остаётся у автора, который прочтёт вашу причину и сможет её обжаловать."},
	"admin.opinion.decision": {"Decision", "Решение"},
	"admin.opinion.block":    {"Block it", "Заблокировать"},
	"admin.opinion.allow":    {"Allow it", "Пропустить"},
	"admin.opinion.note":     {"Only note something", "Только заметка"},
	"admin.opinion.reason":   {"Reason", "Причина"},
	"admin.opinion.hint":     {"The author reads the reason of a block. A note is for moderators alone.", "Причину блокировки прочтёт автор. Заметку видят только модераторы."},
	"admin.opinion.send":     {"Save", "Сохранить"},
	"admin.opinion.all":      {"Opinions", "Мнения"},
	"admin.opinion.counts":   {"counts", "действует"},
	"admin.opinion.old":      {"does not count any more", "больше не действует"},
	"admin.opinion.is.block": {"block", "заблокировать"},
	"admin.opinion.is.allow": {"allow", "пропустить"},
	"admin.opinion.is.note":  {"note", "заметка"},
	"admin.done.decided":     {"Saved.", "Сохранено."},
	"admin.report.moderate":  {"Block or allow it", "Заблокировать или пропустить"},
	"admin.act.block_post":   {"{by}: blocked the post {subject}", "{by}: заблокирована запись {subject}"},
	"admin.act.allow_post":   {"{by}: allowed the post {subject}", "{by}: пропущена запись {subject}"},
	"admin.act.note_post":    {"{by}: noted something about the post {subject}", "{by}: заметка о записи {subject}"},
	"report.of.appeal.post":  {"An appeal of {who} about a blocked post", "Обращение {who} по поводу блокировки записи"},
}
