package view

// welcomeTexts are the texts of the introduction for a new account.
var welcomeTexts = texts{
	"welcome.steps":       {"First steps", "Первые шаги"},
	"welcome.step.you":    {"You", "О вас"},
	"welcome.step.people": {"People", "Люди"},
	"welcome.step.post":   {"First post", "Первая запись"},
	"welcome.done":        {"done", "готово"},
	"welcome.leave":       {"Leave for now", "Не сейчас"},
	"welcome.skip":        {"Skip", "Пропустить"},
	"welcome.next":        {"Continue", "Дальше"},
	"welcome.home":        {"Go to my home page", "Перейти в ленту"},
	"welcome.you":         {"Welcome", "Добро пожаловать"},
	"welcome.you.lead": {
		"This is how others see you. You can change it at any time in the settings.",
		"Так вас видят другие. Это можно изменить в настройках в любой момент.",
	},
	"welcome.people": {"Whom to follow", "На кого подписаться"},
	"welcome.people.lead": {
		"What the people and groups you follow post and talk about comes to your home page. Three or four are enough to begin.",
		"Записи и разговоры людей и групп, на которые вы подписаны, приходят в вашу ленту. Для начала хватит трёх или четырёх.",
	},
	"welcome.people.none": {"There’s nobody new to suggest. Look around in the lists.", "Больше предложить некого. Загляните в списки."},
	"welcome.post":        {"Your first post", "Ваша первая запись"},
	"welcome.post.lead": {
		"Say hello: who you are, or what you’re looking at right now.",
		"Поздоровайтесь: расскажите, кто вы или что у вас сейчас перед глазами.",
	},
}
