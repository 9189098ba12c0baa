package tracker

// Keys of a run's metadata that heirloom writes. Users are free to use any
// others; by convention these start with one of the prefixes below.
const (
	KeyName       = "heirloom.name"
	KeyUser       = "heirloom.user"
	KeyProject    = "heirloom.project"
	KeyExperiment = "heirloom.experiment"
	KeyCommand    = "heirloom.command" // list of strings, redacted
	KeyDir        = "heirloom.dir"
	KeyHost       = "heirloom.host"
	KeyOutputDir  = "heirloom.output_dir"
	KeyVersion    = "heirloom.version" // of the heirloom that wrote the run

	KeyGitCommit = "heirloom.git.commit"
	KeyGitBranch = "heirloom.git.branch"
	KeyGitRemote = "heirloom.git.remote" // redacted
	KeyGitDirty  = "heirloom.git.dirty"  // bool

	// Written once at the end of a run, for TorchX's readers.
	KeyState    = "heirloom.state"
	KeyStarted  = "heirloom.started" // RFC 3339, as KeyEnded
	KeyEnded    = "heirloom.ended"
	KeyExitCode = "heirloom.exit_code"
	KeySignal   = "heirloom.signal"

	PrefixScheduler = "heirloom.scheduler."
	PrefixParams    = "params."
	PrefixMetrics   = "metrics."
	PrefixTags      = "tags."
)

// Keys of an artifact's metadata that heirloom writes.
const (
	KeyKey       = "heirloom.key"        // relative to the store that holds the tracker's root
	KeySizeBytes = "heirloom.size_bytes" // integer
	KeySHA256    = "heirloom.sha256"     // 64 hexadecimal digits
	KeyKind      = "heirloom.kind"       // one of the kinds below
)

// Values of KeyKind.
const (
	KindModel      = "model"
	KindCheckpoint = "checkpoint"
	KindDataset    = "dataset"
	KindMetrics    = "metrics"
	KindLog        = "log"
	KindOther      = "other"
)
