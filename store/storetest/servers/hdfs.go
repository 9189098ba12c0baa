package servers

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// nameservice is what a cluster with two NameNodes is called in its configuration.
const nameservice = "heirloom"

// HadoopOptions say what Hadoop starts. Nil and the zero value are one NameNode
// and one DataNode.
type HadoopOptions struct {
	DataNodes int  // 0 is 1; a file has as many replicas, up to 3
	HA        bool // two NameNodes, the first active
	// Federated are two NameNodes too, each with a namespace of its own: those of
	// Nameservices, of which the first is fs.defaultFS. Not with HA.
	Federated bool
	// Properties are of hdfs-site.xml and core-site.xml alike, for servers and
	// clients.
	Properties map[string]string
	// Kerberos is who identifies servers and clients, nil for nobody. The servers'
	// principal, which may do all, is hdfs/localhost; KDC.Keytab("servers") holds it.
	Kerberos *KDC
	// Protection is authentication, integrity or privacy, with Kerberos.
	Protection string
}

// Nameservices are the names of a federated cluster's namespaces.
func Nameservices() []string { return []string{"ns1", "ns2"} }

// HDFS is a cluster with an empty namespace.
type HDFS struct {
	Authority string   // host:port of the first NameNode, or the nameservice of two
	Addresses []string // host:port of each NameNode
	ConfDir   string   // Hadoop's configuration, for HADOOP_CONF_DIR
	Environ   []string // what a child process needs, as "NAME=value"

	t         testing.TB
	dir       string
	jars      string
	javaFlags []string
	pages     []string // of each NameNode, host:port
	dataPages []string // of each DataNode, host:port
	nameNodes []*hadoopProcess
	dataNodes []*hadoopProcess
}

// hadoopProcess is a NameNode or DataNode that runs or was killed.
type hadoopProcess struct {
	name string
	args []string
	kill func()
}

// Hadoop starts a cluster, which is out of safe mode and has all its DataNodes
// when it returns.
func Hadoop(t testing.TB, o *HadoopOptions) *HDFS {
	t.Helper()
	if o == nil {
		o = &HadoopOptions{}
	}
	dir := t.TempDir()
	h := &HDFS{t: t, dir: dir, jars: hadoopJars(t), ConfDir: filepath.Join(dir, "conf")}
	h.Environ = []string{"HADOOP_CONF_DIR=" + h.ConfDir}
	replicas := max(o.DataNodes, 1)
	if err := h.configure(o, replicas); err != nil {
		t.Fatal(err)
	}
	if err := h.format(o); err != nil {
		t.Fatal(err)
	}
	for i := range h.Addresses {
		h.nameNodes = append(h.nameNodes, h.nameNode(i, o))
		h.StartNameNode(i)
	}
	for i := range replicas {
		h.dataNodes = append(h.dataNodes, h.dataNode(i))
		h.StartDataNode(i)
	}
	if o.HA {
		h.waitPage(0)
		h.waitPage(1)
		h.Activate(0)
	}
	h.WaitReady(0, replicas)
	if o.Federated {
		h.WaitReady(1, replicas)
	}
	return h
}

func (h *HDFS) configure(o *HadoopOptions, replicas int) error {
	count := 1
	if o.HA || o.Federated {
		count = 2
	}
	for range count {
		h.Addresses = append(h.Addresses, fmt.Sprintf("127.0.0.1:%d", freePort(h.t)))
		h.pages = append(h.pages, fmt.Sprintf("127.0.0.1:%d", freePort(h.t)))
	}
	h.Authority = h.Addresses[0]
	hdfs := map[string]string{
		"dfs.replication":                         fmt.Sprint(min(replicas, 3)),
		"dfs.namenode.name.dir":                   filepath.Join(h.dir, "name-${dfs.ha.namenode.id}"),
		"dfs.datanode.address":                    "127.0.0.1:0",
		"dfs.datanode.http.address":               "127.0.0.1:0",
		"dfs.datanode.ipc.address":                "127.0.0.1:0",
		"dfs.namenode.safemode.extension":         "0",
		"dfs.namenode.safemode.min.datanodes":     "1",
		"dfs.namenode.handler.count":              "16",
		"dfs.namenode.redundancy.considerLoad":    "false",
		"dfs.heartbeat.interval":                  "1",
		"dfs.namenode.stale.datanode.interval":    "3000",
		"dfs.namenode.avoid.write.stale.datanode": "true",
		"dfs.namenode.avoid.read.stale.datanode":  "true",
		"dfs.ha.standby.checkpoints":              "false",
		"dfs.datanode.max.locked.memory":          "0",
		"dfs.namenode.secondary.http-address":     "127.0.0.1:0",
		// A DataNode is full once the blocks being written, each reckoned in whole, do
		// not fit: those that were broken off are reckoned for a quarter of an hour.
		"dfs.blocksize": "16m",
	}
	if replicas > 1 { // there is a death to notice; a single one on a slow machine is never taken for dead
		hdfs["dfs.namenode.heartbeat.recheck-interval"] = "1000"
	}
	core := map[string]string{"hadoop.tmp.dir": filepath.Join(h.dir, "tmp")}
	switch {
	case o.HA:
		h.configureHA(hdfs)
	case o.Federated:
		h.configureFederated(hdfs)
		core["fs.defaultFS"] = "hdfs://" + Nameservices()[0]
	default:
		hdfs["dfs.ha.namenode.id"] = "nn1"
		hdfs["dfs.namenode.http-address"] = h.pages[0]
	}
	if core["fs.defaultFS"] == "" {
		core["fs.defaultFS"] = "hdfs://" + h.Authority
	}
	if o.Kerberos != nil {
		properties, flags := o.Kerberos.hadoop(o.Protection)
		maps.Copy(core, properties)
		h.javaFlags = flags
		h.Environ = append(h.Environ, "KRB5_CONFIG="+o.Kerberos.ConfFile)
	}
	maps.Copy(core, o.Properties)
	maps.Copy(hdfs, core)
	return h.writeConf(core, hdfs)
}

func (h *HDFS) configureHA(hdfs map[string]string) {
	h.Authority = nameservice
	hdfs["dfs.nameservices"] = nameservice
	hdfs["dfs.ha.namenodes."+nameservice] = "nn1,nn2"
	hdfs["dfs.namenode.shared.edits.dir"] = "file://" + filepath.Join(h.dir, "shared")
	hdfs["dfs.ha.fencing.methods"] = "shell(/bin/true)"
	hdfs["dfs.ha.tail-edits.period"] = "1"
	hdfs["dfs.client.failover.proxy.provider."+nameservice] = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
	for i, address := range h.Addresses {
		hdfs[fmt.Sprintf("dfs.namenode.rpc-address.%s.nn%d", nameservice, i+1)] = address
		hdfs[fmt.Sprintf("dfs.namenode.http-address.%s.nn%d", nameservice, i+1)] = h.pages[i]
	}
}

func (h *HDFS) configureFederated(hdfs map[string]string) {
	hdfs["dfs.nameservices"] = strings.Join(Nameservices(), ",")
	for i, name := range Nameservices() {
		hdfs["dfs.namenode.rpc-address."+name] = h.Addresses[i]
		hdfs["dfs.namenode.http-address."+name] = h.pages[i]
		hdfs["dfs.namenode.name.dir."+name] = filepath.Join(h.dir, "name-"+name)
	}
}

// nameNodeID tells a NameNode which of the configuration's it is.
func nameNodeID(i int, o *HadoopOptions) []string {
	switch {
	case o.HA:
		return []string{fmt.Sprintf("-Ddfs.ha.namenode.id=nn%d", i+1)}
	case o.Federated:
		return []string{"-Ddfs.nameservice.id=" + Nameservices()[i]}
	}
	return nil
}

func (h *HDFS) nameNode(i int, o *HadoopOptions) *hadoopProcess {
	return &hadoopProcess{name: fmt.Sprintf("NameNode %d", i), args: append([]string{nameNodeClass}, nameNodeID(i, o)...)}
}

func (h *HDFS) dataNode(i int) *hadoopProcess {
	page := fmt.Sprintf("127.0.0.1:%d", freePort(h.t))
	h.dataPages = append(h.dataPages, page)
	args := []string{dataNodeClass, "-Ddfs.datanode.data.dir=" + h.DataDir(i), "-Ddfs.datanode.http.address=" + page}
	return &hadoopProcess{name: fmt.Sprintf("DataNode %d", i), args: args}
}

// Syncs counts how often a DataNode has flushed a block to its disk.
func (h *HDFS) Syncs(i int) int {
	h.t.Helper()
	response, err := http.Get("http://" + h.dataPages[i] + "/jmx?qry=Hadoop:service=DataNode,name=DataNodeActivity-*")
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	var page struct{ Beans []struct{ FsyncCount int } }
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil || len(page.Beans) != 1 {
		h.t.Fatalf("DataNode %d tells %+v, %v", i, page, err)
	}
	return page.Beans[0].FsyncCount
}

// Page and DataPage are the host and port of the web server of a NameNode, or a
// DataNode.
func (h *HDFS) Page(i int) string { return h.pages[i] }

// DataPage is Page's sister.
func (h *HDFS) DataPage(i int) string { return h.dataPages[i] }

// DataDir is where a DataNode keeps its blocks.
func (h *HDFS) DataDir(i int) string { return filepath.Join(h.dir, fmt.Sprintf("data%d", i)) }

// URL is the address of a store below prefix, which may be empty.
func (h *HDFS) URL(prefix string) string { return "hdfs://" + h.Authority + "/" + prefix }

// KillNameNode and KillDataNode end a process at once, as a loss of power does.
func (h *HDFS) KillNameNode(i int) { h.nameNodes[i].kill() }

// KillDataNode is KillNameNode's sister.
func (h *HDFS) KillDataNode(i int) { h.dataNodes[i].kill() }

// StartNameNode starts a NameNode that was killed, and does not wait for it.
func (h *HDFS) StartNameNode(i int) { h.start(h.nameNodes[i]) }

// StartDataNode starts a DataNode that was killed, and does not wait for it.
func (h *HDFS) StartDataNode(i int) { h.start(h.dataNodes[i]) }

func (h *HDFS) start(p *hadoopProcess) {
	h.t.Helper()
	cmd := h.java(p.args[0], p.args[1:]...)
	cmd.Env = os.Environ()
	cmd.SysProcAttr = dieWithParent()
	run := &process{name: p.name, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &run.output, &run.output
	stop, err := run.run(cmd)
	if err != nil {
		h.t.Fatalf("start %s: %v", p.name, err)
	}
	p.kill = sync.OnceFunc(stop)
	h.t.Cleanup(func() {
		p.kill()
		if h.t.Failed() {
			h.t.Logf("the end of what %s said:\n%s", p.name, lastLines(run.output.String(), 40))
		}
	})
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Activate makes a NameNode the active one of two, and the other, if it lives,
// the standby.
func (h *HDFS) Activate(i int) {
	h.t.Helper()
	for _, step := range [][]string{
		{"-transitionToStandby", fmt.Sprintf("nn%d", 2-i)},
		{"-transitionToActive", "--forceactive", fmt.Sprintf("nn%d", i+1)},
	} {
		out, err := h.java(haAdminClass, step...).CombinedOutput()
		if err != nil && step[0] == "-transitionToActive" {
			h.t.Fatalf("%v: %v\n%s", step, err, out)
		}
	}
}

// nameNodeState is what a NameNode tells of itself.
type nameNodeState struct {
	FSState          string
	NumLiveDataNodes int
}

// WaitReady waits until a NameNode is out of safe mode and counts that many
// DataNodes.
func (h *HDFS) WaitReady(i, dataNodes int) {
	h.t.Helper()
	h.wait(i, func(s nameNodeState) bool { return s.FSState == "Operational" && s.NumLiveDataNodes >= dataNodes })
}

func (h *HDFS) waitPage(i int) { h.wait(i, func(nameNodeState) bool { return true }) }

func (h *HDFS) wait(i int, good func(nameNodeState) bool) {
	h.t.Helper()
	url := "http://" + h.pages[i] + "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	var last nameNodeState
	var err error
	for deadline := time.Now().Add(2 * startTimeout); time.Now().Before(deadline); time.Sleep(pollInterval) {
		if last, err = readState(client, url); err == nil && good(last) {
			return
		}
	}
	h.t.Fatalf("NameNode %d is not ready: %+v, %v", i, last, err)
}

func readState(client *http.Client, url string) (nameNodeState, error) {
	response, err := client.Get(url)
	if err != nil {
		return nameNodeState{}, err
	}
	defer response.Body.Close()
	var page struct{ Beans []nameNodeState }
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
		return nameNodeState{}, err
	}
	if len(page.Beans) == 0 {
		return nameNodeState{}, fmt.Errorf("%s tells no state", url)
	}
	return page.Beans[0], nil
}
