package store

import "strings"

// RemoteView is what a worker needs to know of a store for one run, under the attribute names of the RemoteStore
// that Horovod hands to its workers. Paths are full URLs; Localize strips them.
type RemoteView struct {
	TrainDataPath      string  `json:"train_data_path"`
	ValDataPath        string  `json:"val_data_path"`
	TestDataPath       string  `json:"test_data_path"`
	SavingRuns         bool    `json:"saving_runs"`
	RunsPath           string  `json:"runs_path"`
	RunPath            string  `json:"run_path"`
	CheckpointPath     *string `json:"checkpoint_path"` // nil where runs are not saved
	LogsPath           *string `json:"logs_path"`       // nil where runs are not saved
	CheckpointFilename string  `json:"checkpoint_filename"`
	LogsSubdir         string  `json:"logs_subdir"`
}

// Remote is the view of a run that reads the datasets with index idx, without an index if idx is negative. A
// layout that knows no URL gives keys.
func (l Layout) Remote(run string, idx int) RemoteView {
	v := RemoteView{
		TrainDataPath:      l.url(l.TrainData(idx)),
		ValDataPath:        l.url(l.ValData(idx)),
		TestDataPath:       l.url(l.TestData(idx)),
		SavingRuns:         l.SavesRuns(),
		RunsPath:           l.url(l.Runs()),
		RunPath:            l.url(l.RunDir(run)),
		CheckpointFilename: l.CheckpointFilename(),
		LogsSubdir:         logsSubdir,
	}
	if l.SavesRuns() {
		checkpoint, logs := l.url(l.CheckpointPath(run)), l.url(l.logs(run))
		v.CheckpointPath, v.LogsPath = &checkpoint, &logs
	}
	return v
}

// Localize gives every path in the form that the file system of the store takes, see the function Localize.
func (v RemoteView) Localize() RemoteView {
	for _, p := range []*string{&v.TrainDataPath, &v.ValDataPath, &v.TestDataPath, &v.RunsPath, &v.RunPath} {
		*p = Localize(*p)
	}
	for _, p := range []**string{&v.CheckpointPath, &v.LogsPath} {
		if *p != nil {
			local := Localize(**p)
			*p = &local
		}
	}
	return v
}

// Localize strips from a URL what the file system's own client does not take: the scheme, and the host of HDFS.
// file:///a is /a, hdfs://host/a is /a, s3://bucket/a is bucket/a, dbfs:/a is /dbfs/a, dbfs:/Volumes/a is /Volumes/a.
func Localize(u string) string {
	name, rest, found := strings.Cut(u, ":")
	if !found || strings.Contains(name, "/") {
		return u
	}
	switch path, double := strings.CutPrefix(rest, "//"); {
	case name == "dbfs" && strings.HasPrefix(rest, "/Volumes/"):
		return rest
	case name == "dbfs":
		return "/dbfs" + rest
	case name == "hdfs" && double:
		_, path, _ = strings.Cut(path, "/")
		return "/" + path
	case double:
		return path
	}
	return u
}

func (l Layout) url(k Key) string {
	if l.root == "" || strings.HasSuffix(l.root, "/") {
		return l.root + string(k)
	}
	return l.root + "/" + string(k)
}
