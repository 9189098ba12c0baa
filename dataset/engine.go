package dataset

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// Engine is a program that reads Parquet and writes addresses in its own way. The zero value is ours.
type Engine string

// The engines whose addresses are known.
const (
	Spark  Engine = "spark"  // s3a://, gs://, hdfs://, dbfs:/ and file://
	FSSpec Engine = "fsspec" // s3://, gs://, hdfs://, dbfs:/ and paths of files
	DuckDB Engine = "duckdb" // s3://, gs:// and paths of files
)

// Address is a canonical URL as the engine writes it. What it cannot read is an error of kind store.ErrUnsupported.
func (e Engine) Address(url string) (string, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch {
	case e == Spark && scheme == "s3":
		return "s3a:" + rest, nil
	case e == Spark || e == "":
		return url, nil
	case scheme == "file":
		uri, err := store.CanonicalURI(url, "")
		return filePath(uri), err
	case scheme == "dbfs" && e == DuckDB:
		return "/dbfs" + rest, nil // DuckDB reads Databricks by its mount only
	case scheme == "hdfs" && e == DuckDB:
		return "", &store.Error{Op: "name for DuckDB", Key: url, Kind: store.ErrUnsupported, Err: errors.New("DuckDB does not read HDFS")}
	}
	return url, nil
}

// filePath is the path of a file URI, which may begin with a drive.
func filePath(uri string) string {
	path, ok := strings.CutPrefix(uri, "file://")
	if !ok {
		return uri
	}
	if len(path) > 1 && filepath.VolumeName(filepath.FromSlash(path[1:])) != "" {
		path = path[1:] // file:///C:/dir
	}
	return filepath.FromSlash(path)
}
