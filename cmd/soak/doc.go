// Package soak holds the long load of `make soak`, and no code of the program: people
// write, like and read on a site of two nodes and two database servers, all of them
// processes of their own, while nodes and servers are killed, tables of rivers lost, and
// messages and jobs lost and doubled. A program follows the log of changes meanwhile. The tests stand behind the build tag soak.
package soak
