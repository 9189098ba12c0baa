// Package tracker records runs: their metadata, artifacts, sources and
// attempts, as small immutable objects under the root of a store.
//
// The stored form is that of TorchX's FsspecTracker, so that either reads what
// the other wrote, plus what TorchX does not look at: heirloom.json in the root
// and the directory heirloom in each run.
//
//	heirloom.json                                        Format of the root
//	<B32(run)>/metadata/<ns>[-<random>]                  {"metadata": {…}}
//	<B32(run)>/artifacts/<ns>[-<random>]                 {"name": …, "path": …, "metadata": …}
//	<B32(run)>/sources/<B32(source)>                     lines of artifact names; empty = no name
//	<B32(parent)>/descendants/<B32(run)>                 the mirror, where the parent is tracked
//	<B32(run)>/heirloom/links/<B32(source)>/<B32(name)>  one object per edge, "=" for no name
//	<B32(run)>/heirloom/attempts/<%06d>/                 start, end, beat
//
// A link is the truth about an edge; the text files follow it. Readers take
// both, never write, and pass over what they cannot read with a Warning.
package tracker
