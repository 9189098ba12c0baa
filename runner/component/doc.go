// Package component makes apps from arguments.
//
// A [Component] has typed parameters, with defaults and help, and makes a
// runner.App of their values. Those that are built in follow TorchX's components
// of the same names. A user's own is a file, TOML or JSON, that describes an App
// whose strings name parameters; it is read and checked whole before anything is
// launched. [Set] finds a component by its name.
package component
