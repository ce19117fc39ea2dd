package view

// filesTexts are the texts of pictures and files.
var filesTexts = texts{
	"files.picture":    {"Picture: {name}", "Картинка: {name}"},
	"files.picture.of": {"Picture {i} of {n}: {name}", "Картинка {i} из {n}: {name}"},
	"files.waiting":    {"{name} will be here in a moment", "{name}: сейчас появится"},
	"files.failed":     {"this picture can’t be read", "картинку не удалось прочитать"},
	"files.attach":     {"Add pictures or files", "Добавить картинки или файлы"},
	"files.alt":        {"Describe this picture", "Опишите картинку"},
	"files.alt.of":     {"Description of {name}", "Описание: {name}"},
	"files.bytes":      {"{n} B", "{n} Б"},
	"files.kilobytes":  {"{n} kB", "{n} кБ"},
	"files.megabytes":  {"{n} MB", "{n} МБ"},
	"files.gigabytes":  {"{n} GB", "{n} ГБ"},
	"files.remove":     {"Remove {name}", "Убрать {name}"},
	"files.uploading":  {"{name} is being uploaded", "{name} загружается"},
	"files.unsent":     {"{name} was not uploaded. Try again.", "{name}: загрузить не удалось. Попробуйте ещё раз."},

	"viewer.title":    {"Pictures", "Картинки"},
	"viewer.previous": {"Previous picture", "Предыдущая картинка"},
	"viewer.next":     {"Next picture", "Следующая картинка"},
	"viewer.close":    {"Close", "Закрыть"},

	"picture.choose":  {"Picture", "Картинка"},
	"picture.hint":    {"A JPEG, PNG, GIF or WebP. Everybody can see it.", "JPEG, PNG, GIF или WebP. Её увидят все."},
	"picture.remove":  {"Remove picture", "Убрать картинку"},
	"picture.awaited": {"Your picture will be here in a moment. If it isn’t after a minute, it could not be read.", "Картинка появится через мгновение. Если её нет и через минуту, её не удалось прочитать."},

	"invalid.file_large":   {"“{value}” is too large. The limit is {most} MB.", "«{value}» слишком велик. Наибольший размер — {most} МБ."},
	"invalid.file_empty":   {"“{value}” is empty.", "«{value}» — пустой файл."},
	"invalid.file_form":    {"“{value}” is a picture in a form that can’t be shown here, such as an animation. Save it as JPEG or PNG.", "«{value}» — картинка в виде, который здесь не показать, например анимация. Сохраните её как JPEG или PNG."},
	"invalid.file_pixels":  {"“{value}” has too many pixels. Make it smaller.", "В «{value}» слишком много пикселей. Уменьшите картинку."},
	"invalid.file_damaged": {"“{value}” is damaged.", "«{value}» повреждён."},
	"invalid.file_picture": {"“{value}” is not a picture. Choose a JPEG, PNG, GIF or WebP.", "«{value}» — не картинка. Выберите JPEG, PNG, GIF или WebP."},
	"invalid.file_unknown": {"One of the files isn’t here any more. Add it again.", "Одного из файлов больше нет. Добавьте его ещё раз."},
	"invalid.files_many":   {"You can’t add more than {most} files.", "Можно добавить не больше {most} файлов."},
	"invalid.files_loose":  {"You’ve uploaded {most} files that stand in no post yet. Post or remove some of them first.", "У вас {most} загруженных файлов, которых нет ни в одной записи. Сначала опубликуйте или уберите часть."},
	"invalid.alt_long":     {"The description is too long. The limit is {most} characters.", "Описание слишком длинное. Наибольшая длина — {most} знаков."},
}
