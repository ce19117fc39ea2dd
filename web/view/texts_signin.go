package view

// signinTexts are the texts of signing in and up.
var signinTexts = texts{
	"password.title":      {"Choose a password", "Выберите пароль"},
	"password.lead":       {"You are {name}. With the new password you sign in here, and you are signed out everywhere else.", "Вы {name}. С новым паролем вы войдёте здесь, а все другие сеансы завершатся."},
	"password.do":         {"Set the password", "Сохранить пароль"},
	"error.link":          {"This link does not work any more. It may have been used, or it is too old. Ask for a new one.", "Эта ссылка больше не действует: она использована или устарела. Попросите новую."},
	"login.suspended":     {"This account is suspended.", "Эта учётная запись заблокирована."},
	"login.suspended.to":  {"This account is suspended until {date}.", "Эта учётная запись заблокирована до {date}."},
	"appeal.title":        {"Suspended", "Заблокировано"},
	"appeal.text":         {"A message to the administrators", "Сообщение администраторам"},
	"appeal.hint":         {"If you think this is a mistake, say why.", "Если вы думаете, что это ошибка, объясните почему."},
	"appeal.do":           {"Send", "Отправить"},
	"appeal.answered":     {"Your message was read, and the decision stays ({date}).", "Ваше сообщение прочитано, решение остаётся в силе ({date})."},
	"appeal.waits":        {"Your message waits for an answer since {date}.", "Ваше сообщение ждёт ответа с {date}."},
	"appeal.sent":         {"Your message is with the administrators.", "Ваше сообщение передано администраторам."},
	"login.suspended.why": {"The reason given: {reason}", "Указанная причина: {reason}"},
	"signup.title":        {"Sign up", "Регистрация"},
	"signup.lead":         {"All you need is a username and a password.", "Нужны только имя пользователя и пароль."},
	"signup.name":         {"Username", "Имя пользователя"},
	"signup.name.hint": {
		"3 to 35 characters: a–z, 0–9 and -. It starts and ends with a letter or digit. This is your page’s address, and you can’t change it later.",
		"От 3 до 35 знаков: a–z, 0–9 и -. Первый и последний — буква или цифра. Это адрес вашей страницы, изменить его потом нельзя.",
	},
	"signup.titled": {"Display name", "Имя"},
	"signup.titled.hint": {
		"Others see this name. Leave it empty to use your username.",
		"Это имя видят другие. Если оставить пустым, будет видно имя пользователя.",
	},
	"signup.password":      {"Password", "Пароль"},
	"signup.password.hint": {"At least 8 characters.", "Не короче 8 знаков."},
	"signup.do":            {"Sign up", "Зарегистрироваться"},
	"signup.have":          {"Already have an account?", "Уже есть аккаунт?"},
	"login.title":          {"Sign in", "Вход"},
	"login.do":             {"Sign in", "Войти"},
	"login.none":           {"No account yet?", "Ещё нет аккаунта?"},
	"login.first":          {"Sign in to continue.", "Войдите, чтобы продолжить."},
	"login.wrong":          {"Wrong username or password.", "Неверное имя пользователя или пароль."},
	"login.kept": {
		"You’re not signed in any more. Your text is still here: sign in, and you can send it.",
		"Сеанс закончился. Ваш текст здесь: войдите, и его можно будет отправить.",
	},
	"login.resumed": {
		"You’re signed in. Nothing has been sent yet: check your text and send it.",
		"Вы вошли. Пока ничего не отправлено: проверьте текст и отправьте его.",
	},
}
