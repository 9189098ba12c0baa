package servers

import (
	"fmt"
	"os"
	"path/filepath"
)

// format gives the NameNodes their namespaces, and the second of two a copy.
func (h *HDFS) format(o *HadoopOptions) error {
	if o.HA {
		if err := h.runFormat(nameNodeID(0, o)...); err != nil {
			return err
		}
		return os.CopyFS(filepath.Join(h.dir, "name-nn2"), os.DirFS(filepath.Join(h.dir, "name-nn1")))
	}
	names := []string{"nn1"}
	if o.Federated {
		names = Nameservices()
	}
	for i, name := range names {
		empty, err := h.emptyNamespace(i)
		if err != nil {
			return err
		}
		if err := os.CopyFS(filepath.Join(h.dir, "name-"+name), os.DirFS(empty)); err != nil {
			return err
		}
	}
	return nil
}

// emptyNamespace gives the directory of a namespace that is never used but copied,
// which is faster than to format one each time. Those of different numbers may
// be in one federation.
func (h *HDFS) emptyNamespace(number int) (string, error) {
	dir := fmt.Sprintf("%s-namespace-%d", h.jars, number)
	err := once(dir, func() error {
		work, err := os.MkdirTemp(filepath.Dir(dir), ".format-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(work)
		f := &HDFS{t: h.t, dir: work, jars: h.jars, ConfDir: filepath.Join(work, "conf")}
		made := filepath.Join(work, "name")
		if err := f.writeConf(map[string]string{"fs.defaultFS": "hdfs://127.0.0.1:1"}, map[string]string{"dfs.namenode.name.dir": made}); err != nil {
			return err
		}
		if err := f.runFormat(); err != nil {
			return err
		}
		return os.Rename(made, dir)
	})
	return dir, err
}

func (h *HDFS) runFormat(identity ...string) error {
	cmd := h.java(nameNodeClass, append(identity, "-format", "-nonInteractive", "-clusterid", "heirloom")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("format a namespace: %w\n%s", err, out)
	}
	return nil
}
