package benchstore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// job is one cell as a tool sees it.
type job struct {
	load     load
	local    string // the directory to send, or to fill
	bucket   string
	prefix   string // in the bucket
	endpoint string
	environ  []string // credentials
	down     bool
}

// tool makes the command for a job.
type tool struct {
	name  string
	extra bool // only with HEIRLOOM_BENCH_ALL: the defaults of what is also there tuned
	make  func(job) command
}

// s3Tools are those at hand; what is missing is told.
func s3Tools(t *testing.T, heirloom string) []tool {
	tools := []tool{{name: "heirloom", make: func(j job) command { return heirloomS3(heirloom, j) }}}
	if path, err := servers.Rclone(); err != nil {
		t.Logf("without rclone: %v", err)
	} else {
		tools = append(tools,
			tool{name: "rclone", make: func(j job) command { return rclone(path, j) }},
			tool{name: "rclone tuned", make: func(j job) command {
				return rclone(path, j, "--transfers=16", "--checkers=16", "--s3-upload-concurrency=8", "--s3-chunk-size=16M", "--multi-thread-streams=8", "--s3-no-check-bucket")
			}})
	}
	if python, ok := venv(t, "awscli==1.46.3"); ok {
		config := filepath.Join(t.TempDir(), "aws")
		if err := os.WriteFile(config, []byte("[default]\ns3 =\n  max_concurrent_requests = 16\n  multipart_chunksize = 16MB\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		aws := filepath.Join(filepath.Dir(python), "aws")
		tools = append(tools,
			tool{name: "aws-cli", extra: true, make: func(j job) command { return awsCLI(aws, j) }},
			tool{name: "aws-cli tuned", make: func(j job) command {
				c := awsCLI(aws, j)
				c.environ = append(c.environ, "AWS_CONFIG_FILE="+config)
				return c
			}})
	}
	if python, ok := venv(t, "s3fs==2026.9.0"); ok {
		tools = append(tools,
			tool{name: "s3fs", extra: true, make: func(j job) command { return s3fs(python, j, "10") }},
			tool{name: "s3fs tuned", make: func(j job) command { return s3fs(python, j, "32") }})
	}
	return tools
}

// venv is the interpreter of a package, if it can be had.
func venv(t *testing.T, requirement string) (python string, ok bool) {
	t.Run("get "+requirement, func(t *testing.T) { // a skip of its own
		python = servers.Python(t, requirement)
	})
	return python, python != ""
}

func heirloomS3(path string, j job) command {
	url := "s3://" + j.bucket + "/" + j.prefix + "?endpoint=" + j.endpoint + "&region=us-east-1"
	return move(path, url, j)
}

// move is heirloom's own command, on any URL.
func move(path, url string, j job) command {
	args := []string{path, "store", "put", "-q", j.local, url}
	if j.down {
		args = []string{path, "store", "get", "-q", url, j.local}
	}
	return command{args: args, environ: j.environ}
}

func rclone(path string, j job, flags ...string) command {
	from, to := j.local, "bench:"+j.bucket+"/"+j.prefix
	if j.down {
		from, to = to, from
	}
	args := append([]string{path, "copy", from, to, "--config=", "--stats=0"}, flags...)
	return command{args: args, environ: append(j.environ, "RCLONE_CONFIG_BENCH_TYPE=s3", "RCLONE_CONFIG_BENCH_PROVIDER=Minio", "RCLONE_CONFIG_BENCH_ENV_AUTH=true",
		"RCLONE_CONFIG_BENCH_ENDPOINT="+j.endpoint, "RCLONE_CONFIG_BENCH_REGION=us-east-1")}
}

func awsCLI(path string, j job) command {
	from, to := j.local, "s3://"+j.bucket+"/"+j.prefix
	if j.down {
		from, to = to, from
	}
	return command{args: []string{path, "s3", "cp", "--recursive", "--only-show-errors", from, to}, environ: append(j.environ, "AWS_ENDPOINT_URL="+j.endpoint)}
}

const s3fsProgram = `
import os, sys, s3fs
way, url, local, remote, at_once = sys.argv[1:]
fs = s3fs.S3FileSystem(endpoint_url=url, max_concurrency=int(at_once), config_kwargs={"max_pool_connections": int(at_once)})
if way == "up":
    fs.put(local + "/", remote + "/", recursive=True, batch_size=int(at_once))
else:
    fs.get(remote + "/", local + "/", recursive=True, batch_size=int(at_once))
`

func s3fs(python string, j job, atOnce string) command {
	way := "up"
	if j.down {
		way = "down"
	}
	return command{args: []string{python, "-c", s3fsProgram, way, j.endpoint, j.local, j.bucket + "/" + j.prefix, atOnce}, environ: j.environ}
}

// hdfsTools are heirloom and Hadoop's own client.
func hdfsTools(h *servers.HDFS, heirloom string) []tool {
	return []tool{
		{name: "heirloom", make: func(j job) command { return move(heirloom, h.URL(j.prefix), j) }},
		{name: "hdfs dfs", make: func(j job) command {
			if j.down {
				return command{args: h.Shell("-get", "/"+j.prefix, j.local).Args}
			}
			return command{args: h.Shell("-put", j.local, "/"+j.prefix).Args}
		}},
	}
}

// localTools copy a tree on one disk. cp leaves all in the page cache; with sync it promises as much as heirloom does.
func localTools(heirloom string) []tool {
	return []tool{
		{name: "heirloom", make: func(j job) command { return move(heirloom, j.prefix, j) }},
		{name: "cp -r, synced", make: func(j job) command { return copyTree(j, ` && find "$2" -type f -print0 | xargs -0 sync`) }},
		{name: "cp -r", make: func(j job) command { return copyTree(j, "") }},
	}
}

func copyTree(j job, then string) command {
	from, to := j.local, j.prefix
	if j.down {
		from, to = to, from
	}
	return command{args: []string{"sh", "-c", `mkdir -p "$2" && cp -r "$1/." "$2"` + then, "sh", from, to}}
}
