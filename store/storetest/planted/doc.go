// Package planted makes up secrets, writes them into command lines, variables and
// URLs as people do, and looks for them in what was stored afterwards.
package planted
