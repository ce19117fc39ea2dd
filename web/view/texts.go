package view

import "strconv"

// text says the same in each language of the site. {words} in braces are filled in. The
// Russian one avoids the gendered past tense, because we do not know people's gender.
type text struct{ en, ru string }

// texts are a part of the catalogue: what pages say, by key.
type texts map[string]text

// catalogue has all parts. A part belongs to some pages and has a file of its own.
var catalogue = []texts{
	siteTexts, accountsTexts, entryTexts, composeTexts, feedsTexts, riversTexts, settingsTexts, signinTexts, filesTexts, welcomeTexts, noticesTexts, draftsTexts, mineTexts, historyTexts, pushTexts, sourcesTexts, tagsTexts, feedHelpTexts, adminTexts, sessionsTexts, dataTexts, reportsTexts, doorsTexts, aboutTexts, healthTexts, strangerTexts, leavingTexts, errorsTexts, postHelpTexts, scheduledTexts, listingTexts, tokensTexts, apiHelpTexts, heldTexts, waitingTexts, hooksTexts,
}

// textsIn returns the catalogue in one language. It panics if two parts have the same key.
func textsIn(language func(text) string) map[string]string {
	all := map[string]string{}
	for _, part := range catalogue {
		for key, t := range part {
			if _, again := all[key]; again {
				panic("the catalogue has two texts with the key " + strconv.Quote(key))
			}
			all[key] = language(t)
		}
	}
	return all
}
