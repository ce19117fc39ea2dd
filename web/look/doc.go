// Package look tests what pages look like and who can use them: each page with axe-core, at
// the width of a phone and of a desk, in the light and in the dark. It has no code of its own.
//
// A test run looks at a share of the pages that chance selects; make look looks at all.
package look
