package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hadoopVersion is the release whose NameNode and DataNode the tests run.
const hadoopVersion = "3.3.6"

const hadoopPOM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>heirloom</groupId><artifactId>hadoop</artifactId><version>1</version>
<dependencies>
<dependency><groupId>org.apache.hadoop</groupId><artifactId>hadoop-common</artifactId><version>VERSION</version></dependency>
<dependency><groupId>org.apache.hadoop</groupId><artifactId>hadoop-hdfs</artifactId><version>VERSION</version></dependency>
<dependency><groupId>org.apache.hadoop</groupId><artifactId>hadoop-hdfs-client</artifactId><version>VERSION</version></dependency>
</dependencies></project>
`

const hadoopLog = `log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %c{1}: %m%n
`

// The classes of Hadoop that the tests run.
const (
	nameNodeClass = "org.apache.hadoop.hdfs.server.namenode.NameNode"
	dataNodeClass = "org.apache.hadoop.hdfs.server.datanode.DataNode"
	shellClass    = "org.apache.hadoop.fs.FsShell"
	haAdminClass  = "org.apache.hadoop.hdfs.tools.DFSHAAdmin"
)

// hadoopJars gives the directory of Hadoop's jars, fetched with Maven if this
// version is not in the cache yet.
func hadoopJars(t testing.TB) string {
	t.Helper()
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			Missing(t, err, "apt-get install openjdk-17-jre-headless maven", "hdfs")
		}
	}
	cache, err := cacheDir()
	if err != nil {
		Missing(t, err, "export HOME=/some/directory", "hdfs")
	}
	dir := filepath.Join(cache, "hadoop", hadoopVersion)
	if err := once(dir, func() error { return fetchHadoop(dir) }); err != nil {
		Missing(t, err, "mvn dependency:get -Dartifact=org.apache.hadoop:hadoop-hdfs:"+hadoopVersion, "hdfs")
	}
	return dir
}

func fetchHadoop(dir string) error {
	work, err := os.MkdirTemp(filepath.Dir(dir), ".fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	pom := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(pom, []byte(strings.ReplaceAll(hadoopPOM, "VERSION", hadoopVersion)), 0o644); err != nil {
		return err
	}
	jars := filepath.Join(work, "jars")
	cmd := exec.Command("mvn", "-q", "-B", "-ntp", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+jars)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("fetch Hadoop %s: %w\n%s", hadoopVersion, err, out)
	}
	return os.Rename(jars, dir)
}

// java is a command that runs one of Hadoop's classes. The flags are for a quick
// start of a small server.
func (h *HDFS) java(class string, args ...string) *exec.Cmd {
	flags := []string{
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms64m", "-Xmx384m", "-Djava.net.preferIPv4Stack=true",
		"--add-opens=java.base/java.lang=ALL-UNNAMED", "-Dhadoop.log.dir=" + h.dir, "-Djava.io.tmpdir=" + h.dir,
	}
	flags = append(flags, h.javaFlags...)
	flags = append(flags, "-cp", h.ConfDir+string(os.PathListSeparator)+filepath.Join(h.jars, "*"), class)
	return exec.Command("java", append(flags, args...)...)
}

// Shell is a command that runs Hadoop's own client, as "hdfs dfs" does, with the
// flags that Java has by itself.
func (h *HDFS) Shell(args ...string) *exec.Cmd {
	flags := []string{"-Djava.net.preferIPv4Stack=true", "--add-opens=java.base/java.lang=ALL-UNNAMED"}
	flags = append(flags, h.javaFlags...)
	flags = append(flags, "-cp", h.ConfDir+string(os.PathListSeparator)+filepath.Join(h.jars, "*"), shellClass)
	return exec.Command("java", append(flags, args...)...)
}

// writeConf makes the configuration that servers and clients share.
func (h *HDFS) writeConf(core, hdfs map[string]string) error {
	for _, dir := range []string{"hdfs", "datanode", "static"} { // the servers' own pages, which they insist on
		if err := os.MkdirAll(filepath.Join(h.ConfDir, "webapps", dir), 0o755); err != nil {
			return err
		}
	}
	files := map[string]string{"log4j.properties": hadoopLog, "hadoop-metrics2.properties": "*.period=1\n", "core-site.xml": siteXML(core), "hdfs-site.xml": siteXML(hdfs)}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(h.ConfDir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func siteXML(properties map[string]string) string {
	var out strings.Builder
	out.WriteString("<configuration>\n")
	for name, value := range properties {
		fmt.Fprintf(&out, "<property><name>%s</name><value>%s</value></property>\n", name, value)
	}
	out.WriteString("</configuration>\n")
	return out.String()
}
