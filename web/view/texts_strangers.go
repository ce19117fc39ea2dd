package view

// strangerTexts are the texts for somebody whose account is new, and for pages that one person would fill.
var strangerTexts = texts{
	"river.more": {"{n} more by @{name}", "Ещё {n} от @{name}"},
	"invalid.to_stranger": {
		"While your account is new, your messages reach only people who follow you or share a group with you. “{value}” does neither.",
		"Пока ваша учётная запись новая, сообщения можно отправлять только тем, кто на вас подписан или состоит с вами в одной группе. С «{value}» так не получится.",
	},
}
