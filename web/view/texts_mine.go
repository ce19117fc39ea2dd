package view

// mineTexts are the texts of "My posts".
var mineTexts = texts{
	"mine.title":          {"My posts", "Мои записи"},
	"mine.show.all":       {"All", "Все"},
	"mine.show.published": {"Published", "Опубликованные"},
	"mine.show.drafts":    {"Drafts", "Черновики"},
	"mine.show.imported":  {"Imported", "Импорт"},
	"mine.show.waiting":   {"Waiting", "Ожидают"},
	"mine.show.blocked":   {"Blocked", "Заблокированные"},
	"mine.show.expired":   {"Expired", "Истекли"},
	"mine.show.closed":    {"Closed", "Закрытые"},

	"mine.none.all":       {"You haven’t written anything yet.", "Вы ещё ничего не написали."},
	"mine.none.published": {"Nothing is published.", "Опубликованных записей нет."},
	"mine.none.imported":  {"No source has brought any posts of yours.", "Ни один источник ещё не принёс ваших записей."},
	"mine.none.waiting":   {"None of your posts waits for approval.", "Ни одна ваша запись не ждёт одобрения."},
	"mine.none.blocked":   {"None of your posts is blocked.", "Ни одна ваша запись не заблокирована."},
	"mine.none.expired":   {"None of your listings has expired.", "Ни одно ваше объявление не истекло."},
	"mine.none.closed":    {"You haven’t sold or given away anything yet.", "Вы ещё ничего не продали и не отдали."},

	"mine.status.waiting": {"Waiting", "Ожидает"},
	"mine.status.blocked": {"Blocked", "Заблокирована"},
	"mine.status.expired": {"Expired", "Истекла"},
	"mine.status.closed":  {"Closed", "Закрыта"},
	"mine.imported":       {"imported", "импорт"},
	"mine.imported.via":   {"imported from {via}", "импорт из {via}"},
	"mine.edited":         {"edited", "изменена"},

	"mine.choose":  {"Choose: {post}", "Выбрать: {post}"},
	"mine.several": {"The chosen posts", "Выбранные записи"},
	"mine.to":      {"Where to", "Куда"},
	"mine.move":    {"Move", "Переместить"},
	"mine.delete":  {"Delete", "Удалить"},
	"mine.keep":    {"Keep them", "Оставить"},
	"mine.stop":    {"Stop", "Остановить"},
	"mine.seen":    {"OK", "Понятно"},
	"mine.working": {
		"Several posts are being changed already. Wait until that is done, or stop it.",
		"Несколько записей уже изменяются. Подождите, пока это закончится, или остановите.",
	},

	"mine.work.delete.working": {"Deleting: {done} of {total}", "Удаление: {done} из {total}"},
	"mine.work.delete.done":    {"Deleted: {done} of {total}", "Удалено: {done} из {total}"},
	"mine.work.delete.stopped": {"Stopped. Deleted: {done} of {total}", "Остановлено. Удалено: {done} из {total}"},
	"mine.work.move.working":   {"Moving: {done} of {total}", "Перемещение: {done} из {total}"},
	"mine.work.move.done":      {"Moved: {done} of {total}", "Перемещено: {done} из {total}"},
	"mine.work.move.stopped":   {"Stopped. Moved: {done} of {total}", "Остановлено. Перемещено: {done} из {total}"},

	"mine.problem.other":        {"They stay as they were.", "Они остались как были."},
	"mine.problem.not_found":    {"They are gone, or you can’t see them any more.", "Их уже нет, или они вам больше не видны."},
	"mine.problem.forbidden":    {"You may not change them.", "Вам нельзя их изменять."},
	"mine.problem.to_forbidden": {"You may not post there.", "Туда вам писать нельзя."},
	"mine.problem.to_closed":    {"A group they stand in takes no posts of yours any more.", "Группа, в которой они стоят, больше не принимает ваших записей."},
}
