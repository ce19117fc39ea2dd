package view

// tokensTexts are the texts of the page of app tokens, and of what people hear about them.
var tokensTexts = texts{
	"tokens.title": {"App tokens", "Токены приложений"},
	"tokens.now":   {"Programs that act for you", "Программы, которые действуют от вашего имени"},
	"tokens.lead": {
		"A program with a token acts in your name, within what the token allows. A new password ends all tokens, and so does ending all other sessions.",
		"Программа с токеном действует от вашего имени в пределах того, что токен разрешает. Новый пароль прекращает действие всех токенов, как и завершение всех остальных сеансов.",
	},
	"tokens.none":       {"There are no tokens.", "Токенов нет."},
	"tokens.new":        {"New token", "Новый токен"},
	"tokens.new.now":    {"For one program", "Для одной программы"},
	"tokens.name":       {"Name", "Название"},
	"tokens.name.hint":  {"So that you know later which program has it.", "Чтобы потом знать, у какой программы этот токен."},
	"tokens.scopes":     {"The program may", "Программа может"},
	"tokens.days":       {"How long it is good", "Сколько он действует"},
	"tokens.do":         {"Make the token", "Создать токен"},
	"tokens.made":       {"The new token", "Новый токен"},
	"tokens.once":       {"Copy it now: it isn’t shown again. Anyone who has it can act in your name.", "Скопируйте его сейчас: больше он показан не будет. Каждый, у кого он есть, может действовать от вашего имени."},
	"tokens.since":      {"made", "создан"},
	"tokens.ends":       {"ends", "действует до"},
	"tokens.used":       {"last used", "использован"},
	"tokens.unused":     {"not used yet", "ещё не использован"},
	"tokens.revoke":     {"Revoke", "Отозвать"},
	"tokens.revoke.of":  {"Revoke: {name}", "Отозвать: {name}"},
	"tokens.revoked":    {"The token is revoked.", "Токен отозван."},
	"tokens.whole":      {"the whole site", "весь сайт"},
	"tokens.whole.hint": {"changes of everything, private posts of others too, while you are an administrator", "изменения всего, в том числе чужих закрытых записей, пока вы администратор"},

	"tokens.scope.read":        {"read", "читать"},
	"tokens.allows.read":       {"all that you may read", "всё, что доступно вам"},
	"tokens.scope.write":       {"write", "писать"},
	"tokens.allows.write":      {"post, comment, like and change what is yours", "публиковать, комментировать, ставить лайки и менять то, что принадлежит вам"},
	"tokens.scope.changes":     {"changes", "следить за изменениями"},
	"tokens.allows.changes":    {"follow what changes in all that you may read", "узнавать, что меняется во всём, что доступно вам"},
	"tokens.scope.moderation":  {"moderation", "модерировать"},
	"tokens.allows.moderation": {"say which posts to hide, if you are an administrator or a moderator", "сообщать, какие записи скрыть, если вы администратор или модератор"},
	"tokens.scope.stages":      {"stages", "вести обработку"},
	"tokens.allows.stages":     {"keep what the program works out about posts, such as their language", "хранить то, что программа узнаёт о записях, например их язык"},

	"tokens.event.made":    {"New app token: {name},", "Новый токен приложения: {name},"},
	"tokens.event.revoked": {"App token revoked: {name},", "Токен приложения отозван: {name},"},

	"invalid.stage_name":  {"A stage has 1 to 40 lowercase letters a–z, digits and hyphens.", "В названии этапа от 1 до 40 строчных букв a–z, цифр и дефисов."},
	"invalid.stages_many": {"The post has {most} stages of yours, and that is the limit. Delete one first.", "У записи уже {most} ваших этапов, больше нельзя. Сначала удалите один из них."},
	"invalid.state_large": {"The payload is too large. The limit is {most} bytes.", "Содержимое слишком велико. Не больше {most} байт."},

	"invalid.token_name_long":  {"The name is too long. The limit is {most} characters.", "Название слишком длинное. Не больше {most} знаков."},
	"invalid.token_scopes":     {"Choose what the program may do.", "Выберите, что может программа."},
	"invalid.token_days":       {"Choose how long the token is good.", "Выберите, сколько действует токен."},
	"invalid.token_whole_site": {"A token for the whole site needs “changes”.", "Токену для всего сайта нужно «следить за изменениями»."},
	"invalid.tokens_many":      {"You have {most} tokens, and that is the limit. Revoke one first.", "У вас уже {most} токенов, больше нельзя. Сначала отзовите один из них."},
}
