package town

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths of texts, in characters.
const (
	shortestPost, longestPost       = 20, 600
	shortestComment, longestComment = 2, 200
)

// isRussian says whether the person of this popularity writes in Russian: one in four does.
// Comments are in the language of their post.
func isRussian(rank int) bool { return rank%4 == 2 }

// postText returns a text of one or several sentences. Short ones are the most frequent.
func postText(r *rand.Rand, russian bool) string {
	wish := r.Float64()
	return text(r, russian, shortestPost+int(wish*wish*(longestPost-shortestPost)), longestPost)
}

// commentText returns a short text; one in four is hardly more than a nod.
func commentText(r *rand.Rand, russian bool) string {
	if r.IntN(4) == 0 {
		if russian {
			return one(r, nodsRu)
		}
		return one(r, nods)
	}
	wish := r.Float64()
	return text(r, russian, int(wish*wish*wish*longestComment), longestComment)
}

// text returns sentences that have at least shortest and at most longest characters together, or
// fewer than shortest if one more would be too long.
func text(r *rand.Rand, russian bool, shortest, longest int) string {
	say := sentence
	if russian {
		say = sentenceRu
	}
	body := say(r)
	for utf8.RuneCountInString(body) < shortest {
		next := body + " " + say(r)
		if utf8.RuneCountInString(next) > longest {
			break
		}
		body = next
	}
	return body
}

// Words returns words that many posts of a town have, and in each town the same ones.
func Words() []string { return slices.Clone(nouns) }

func sentence(r *rand.Rand) string {
	thing := func() string { return "the " + one(r, adjectives) + " " + one(r, nouns) }
	var s string
	switch r.IntN(6) {
	case 0:
		s = thing() + " " + one(r, verbs) + " " + one(r, places)
	case 1:
		s = one(r, times) + " " + thing() + " " + one(r, verbs) + " " + one(r, places)
	case 2:
		s = "I think that " + thing() + " " + one(r, verbs) + " " + one(r, places) + ", and nobody minds"
	case 3:
		s = "we have been looking for " + thing() + " " + one(r, places)
	case 4:
		s = "does anybody know where " + thing() + " " + one(r, verbs) + " " + one(r, times)
		return capital(s) + "?"
	default:
		s = "there are " + strconv.Itoa(2+r.IntN(90)) + " years of history in " + thing() + " " + one(r, places)
	}
	return capital(s) + one(r, ends)
}

// sentenceRu keeps to the present tense and to whole phrases, as Russian words agree with each other.
func sentenceRu(r *rand.Rand) string {
	var s string
	switch r.IntN(4) {
	case 0:
		s = one(r, subjectsRu) + " " + one(r, verbsRu) + " " + one(r, placesRu)
	case 1:
		s = one(r, timesRu) + " " + one(r, subjectsRu) + " " + one(r, verbsRu) + " " + one(r, placesRu)
	case 2:
		s = "мне кажется, что " + one(r, subjectsRu) + " снова " + one(r, verbsRu) + " " + one(r, placesRu)
	default:
		s = "кто знает, почему " + one(r, subjectsRu) + " " + one(r, verbsRu) + " " + one(r, timesRu)
		return capital(s) + "?"
	}
	return capital(s) + one(r, ends)
}

func one(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// syllables are the parts of names. A name has three of them, so there are 343,000 names.
var syllables = func() (list []string) {
	for _, consonant := range "bdfgklmnprstvz" {
		for _, vowel := range "aeiou" {
			list = append(list, string(consonant)+string(vowel))
		}
	}
	return list
}()

// personName returns the name of the person of this popularity. Neighbours get names that are not
// alike: the factor has no divisor in common with the number of names.
func personName(rank int) string {
	n := len(syllables)
	at := (rank*152_311 + 77_777) % (n * n * n)
	return syllables[at/n/n] + syllables[at/n%n] + syllables[at%n]
}

func personTitle(rank int) string {
	return capital(personName(rank)) + " " + capital(personName(100_000+rank))
}

func groupName(rank int) string { return personName(200_000+rank) + "-club" }

func groupTitle(rank int) string {
	topic := nouns[rank%len(nouns)]
	return "The " + capital(personName(200_000+rank)) + " " + topic + " club"
}

func list(words string) []string {
	return slices.Clip(strings.Split(strings.Join(strings.Fields(words), " "), ", "))
}

var (
	adjectives = list(`old, quiet, red, tall, narrow, wooden, bright, empty, early, northern, small, famous, careful, broken,
		gentle, heavy, hidden, honest, lonely, patient, silver, simple, sleepy, strange, wild, wide, yellow, second, borrowed, forgotten`)
	nouns = list(`harbour, garden, bridge, station, library, bicycle, market, river, window, kitchen, teacher, painter, orchard,
		lighthouse, village, letter, camera, kettle, piano, ferry, meadow, chimney, notebook, carpenter, weather, museum, staircase,
		neighbour, tram, bakery, mountain, lantern, orchestra, postman, umbrella, clock, island, theatre, violin, cat`)
	verbs = list(`stands, waits, sings, sleeps, changes, returns, smells of bread, keeps its secrets, looks better, gets louder,
		disappears, opens its doors, slows down, needs some paint, is worth a visit, has seen it all, makes a good story, is for sale`)
	places = list(`by the sea, behind the church, near the old mill, at the end of the street, under the bridge, across the square,
		on the hill, in the rain, next to the post office, between the trees, outside the town, above the valley, along the canal,
		in the middle of nowhere, after the long winter, over the roofs`)
	times = list(`every morning, in the evening, on Sundays, late at night, before breakfast, all summer, once a year,
		this time, when nobody looks, since last week, after work, most of the time`)
	ends = list(`., ., ., ., !`)
	nods = list(`Quite so., I agree., Thank you!, Where is that?, Really?, Me too., How lovely!, No idea., Well said., Ha!, So it is.,
		Tell us more., I was there., Not again., Good luck!, Same here.`)

	subjectsRu = list(`старый трамвай, моя соседка, рыжий кот, наш почтальон, весенний дождь, маленький оркестр, вечерний поезд,
		учитель музыки, забытый зонтик, школьный хор, северный ветер, новый пекарь, дворовая собака, библиотека, речной паром,
		утренний туман, весь город, яблоневый сад, часовой мастер, бабушка с третьего этажа`)
	verbsRu = list(`идёт домой, ждёт весны, поёт, молчит, спит до полудня, ищет новое место, меняется, исчезает, возвращается,
		радует прохожих, начинает всё сначала, никуда не торопится, просит тишины, хранит свои секреты`)
	placesRu = list(`у моря, на рынке, под мостом, за старой мельницей, на краю города, возле вокзала, среди деревьев, на площади,
		вдоль канала, над крышами, в конце улицы, у самой реки, на горе, после долгой зимы`)
	timesRu = list(`каждое утро, вечером, по воскресеньям, поздно ночью, до завтрака, всё лето, раз в год, с прошлой недели,
		после работы, почти всегда`)
	nodsRu = list(`Согласен., Спасибо!, Где это?, Правда?, И я тоже., Красота!, Не знаю., Хорошо сказано., Ха!, Так и есть.,
		Расскажите ещё., Я там был., Опять?, Удачи!`)
)
