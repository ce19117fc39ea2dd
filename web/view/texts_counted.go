package view

var englishCounted = map[string]forms{
	"news":           {one: "{n} new post", other: "{n} new posts"},
	"home.asking":    {one: "{n} person is waiting for your answer", other: "{n} people are waiting for your answer"},
	"members.total":  {one: "{n} member", other: "{n} members"},
	"comments.total": {one: "{n} comment", other: "{n} comments"},
	"comments.more":  {one: "{n} more comment", other: "{n} more comments"},
	"comments.new":   {one: "{n} new", other: "{n} new"},
	"comments.fresh": {one: "{n} new comment", other: "{n} new comments"},
	"away":           {one: "{n} change while you were away", other: "{n} changes while you were away"},
	"lists.members":  {one: "{n} member", other: "{n} members"},
	"likes.others":   {one: "{n} other", other: "{n} others"},
	"saves.total":    {one: "Saved by {n} person", other: "Saved by {n} people"},
	"likes.total":    {one: "Liked by {n} person", other: "Liked by {n} people"},
}

var russianCounted = map[string]forms{
	"news":           {one: "{n} новая запись", few: "{n} новые записи", many: "{n} новых записей", other: "{n} новой записи"},
	"home.asking":    {one: "{n} человек ждёт вашего ответа", few: "{n} человека ждут вашего ответа", many: "{n} человек ждут вашего ответа", other: "{n} человека ждут вашего ответа"},
	"members.total":  {one: "{n} участник", few: "{n} участника", many: "{n} участников", other: "{n} участника"},
	"comments.total": {one: "{n} комментарий", few: "{n} комментария", many: "{n} комментариев", other: "{n} комментария"},
	"comments.more":  {one: "Ещё {n} комментарий", few: "Ещё {n} комментария", many: "Ещё {n} комментариев", other: "Ещё {n} комментария"},
	"comments.new":   {one: "{n} новый", few: "{n} новых", many: "{n} новых", other: "{n} новых"},
	"comments.fresh": {one: "{n} новый комментарий", few: "{n} новых комментария", many: "{n} новых комментариев", other: "{n} нового комментария"},
	"away":           {one: "{n} изменение, пока вас не было", few: "{n} изменения, пока вас не было", many: "{n} изменений, пока вас не было", other: "{n} изменения, пока вас не было"},
	"lists.members":  {one: "{n} участник", few: "{n} участника", many: "{n} участников", other: "{n} участника"},
	"likes.others":   {one: "ещё {n} человек", few: "ещё {n} человека", many: "ещё {n} человек", other: "ещё {n} человека"},
	"saves.total":    {one: "В избранном у {n} человека", few: "В избранном у {n} человек", many: "В избранном у {n} человек", other: "В избранном у {n} человека"},
	"likes.total":    {one: "Нравится {n} человеку", few: "Нравится {n} людям", many: "Нравится {n} людям", other: "Нравится {n} человека"},
}
