package view

var englishCounted = map[string]forms{
	"news":                   {one: "{n} new post", other: "{n} new posts"},
	"home.asking":            {one: "{n} person is waiting for your answer", other: "{n} people are waiting for your answer"},
	"members.total":          {one: "{n} member", other: "{n} members"},
	"account.followers":      {one: "{n} follower", other: "{n} followers"},
	"account.following":      {one: "{n} following", other: "{n} following"},
	"account.groups":         {one: "{n} group", other: "{n} groups"},
	"account.requests":       {one: "{n} request", other: "{n} requests"},
	"account.friends.others": {one: "{n} other you follow", other: "{n} others you follow"},
	"comments.total":         {one: "{n} comment", other: "{n} comments"},
	"comments.more":          {one: "{n} more comment", other: "{n} more comments"},
	"welcome.following":      {one: "You follow {n} already.", other: "You follow {n} already."},
	"audience.private":       {one: "{n} person can read this: {who}", other: "{n} people can read this: {who}"},
	"lists.members":          {one: "{n} member", other: "{n} members"},
	"likes.others":           {one: "{n} other", other: "{n} others"},
	"saves.total":            {one: "Saved by {n} person", other: "Saved by {n} people"},
	"likes.total":            {one: "Liked by {n} person", other: "Liked by {n} people"},
}

var russianCounted = map[string]forms{
	"news":                   {one: "{n} новая запись", few: "{n} новые записи", many: "{n} новых записей", other: "{n} новой записи"},
	"home.asking":            {one: "{n} человек ждёт вашего ответа", few: "{n} человека ждут вашего ответа", many: "{n} человек ждут вашего ответа", other: "{n} человека ждут вашего ответа"},
	"members.total":          {one: "{n} участник", few: "{n} участника", many: "{n} участников", other: "{n} участника"},
	"account.followers":      {one: "{n} подписчик", few: "{n} подписчика", many: "{n} подписчиков", other: "{n} подписчика"},
	"account.following":      {one: "{n} подписка", few: "{n} подписки", many: "{n} подписок", other: "{n} подписки"},
	"account.groups":         {one: "{n} группа", few: "{n} группы", many: "{n} групп", other: "{n} группы"},
	"account.requests":       {one: "{n} заявка", few: "{n} заявки", many: "{n} заявок", other: "{n} заявки"},
	"account.friends.others": {one: "ещё {n} из ваших подписок", few: "ещё {n} из ваших подписок", many: "ещё {n} из ваших подписок", other: "ещё {n} из ваших подписок"},
	"comments.total":         {one: "{n} комментарий", few: "{n} комментария", many: "{n} комментариев", other: "{n} комментария"},
	"comments.more":          {one: "Ещё {n} комментарий", few: "Ещё {n} комментария", many: "Ещё {n} комментариев", other: "Ещё {n} комментария"},
	"welcome.following":      {one: "У вас уже {n} подписка.", few: "У вас уже {n} подписки.", many: "У вас уже {n} подписок.", other: "У вас уже {n} подписки."},
	"audience.private":       {one: "Это может прочесть {n} человек: {who}", few: "Это могут прочесть {n} человека: {who}", many: "Это могут прочесть {n} человек: {who}", other: "Это могут прочесть {n} человека: {who}"},
	"lists.members":          {one: "{n} участник", few: "{n} участника", many: "{n} участников", other: "{n} участника"},
	"likes.others":           {one: "ещё {n} человек", few: "ещё {n} человека", many: "ещё {n} человек", other: "ещё {n} человека"},
	"saves.total":            {one: "В избранном у {n} человека", few: "В избранном у {n} человек", many: "В избранном у {n} человек", other: "В избранном у {n} человека"},
	"likes.total":            {one: "Нравится {n} человеку", few: "Нравится {n} людям", many: "Нравится {n} людям", other: "Нравится {n} человека"},
}
