package view

// tagsTexts are the texts of the pages of words that give tags, and of proposed tags.
var tagsTexts = texts{
	"tags.title": {"Words and tags", "Слова и метки"},
	"tags.open":  {"Words that give a post its tags", "Слова, по которым запись получает метки"},
	"tags.lead": {
		"Posts from your sources get the tags of the words in them. When you write a post, the tags are offered to you.",
		"Записи из ваших источников получают метки по словам, которые в них есть. Когда вы пишете сами, метки предлагаются.",
	},
	"tags.lead.group": {
		"Posts from the group’s sources get the tags of the words in them. Members who write to the group are offered the tags.",
		"Записи из источников группы получают метки по словам, которые в них есть. Участникам, которые пишут в группу, метки предлагаются.",
	},
	"tags.words": {"One tag on each line, then its words", "На каждой строке метка, затем слова к ней"},
	"tags.words.hint": {
		"Separate words and phrases with commas. Whole words count, in capitals or not. The tag’s own name needn’t be repeated.",
		"Слова и фразы разделяются запятыми. Учитываются целые слова, заглавными буквами или нет. Само название метки повторять не нужно.",
	},
	"tags.example": {"#boats: ship, sailing boat", "#лодки: корабль, парусная лодка"},
	"tags.offered": {"Add a tag", "Добавить метку"},
	"invalid.words_tag": {
		"“{value}” isn’t a tag. Begin each line with a tag and a colon, as in boats: ship, sail.",
		"«{value}» не метка. Начните каждую строку с метки и двоеточия: лодки: корабль, парус.",
	},
	"invalid.words_word": {
		"“{value}” is too long or has characters that can’t be saved. The limit for a word or phrase is 50 characters.",
		"«{value}» слишком длинное или содержит знаки, которые нельзя сохранить. Слово или фраза — не больше 50 знаков.",
	},
	"invalid.words_many": {
		"This is too much. The limit is {most} words and tags.",
		"Это слишком много. Слов и меток может быть не больше {most}.",
	},
}
