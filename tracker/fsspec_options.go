package tracker

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

func fileOptions() []fsspecOption { return []fsspecOption{{name: "auto_mkdir"}} }

func fileURL(root string, p *fsspecPlace) (string, error) {
	if strings.Contains(root, "://") {
		return "", invalid("root_path of protocol file is the URL of something else")
	}
	return expandHome(root, p.env), nil
}

// s3Options are those of s3fs, which hands client_kwargs to botocore.
func s3Options() []fsspecOption {
	accessKey := func(p *fsspecPlace, _, v string) error { p.S3.AccessKey = store.Secret(v); return nil }
	secretKey := func(p *fsspecPlace, _, v string) error { p.S3.SecretKey = store.Secret(v); return nil }
	token := func(p *fsspecPlace, _, v string) error { p.S3.SessionToken = store.Secret(v); return nil }
	endpoint := func(p *fsspecPlace, _, v string) error {
		if !p.query.Has("use_path_style") {
			p.query.Set("use_path_style", "true")
		}
		return p.setEndpoint(v)
	}
	return []fsspecOption{
		{"anon", (*fsspecPlace).setAnonymous},
		{"cache_regions", nil},
		{"client_kwargs.aws_access_key_id", accessKey},
		{"client_kwargs.aws_secret_access_key", secretKey},
		{"client_kwargs.aws_session_token", token},
		{"client_kwargs.endpoint_url", endpoint},
		{"client_kwargs.region_name", parameter("region")},
		{"config_kwargs.s3.addressing_style", (*fsspecPlace).setAddressing},
		{"config_kwargs.signature_version", func(_ *fsspecPlace, _, v string) error {
			if v != "s3v4" && v != "v4" {
				return errors.New("only s3v4 is supported")
			}
			return nil
		}},
		{"default_cache_type", nil},
		{"default_fill_cache", nil},
		{"endpoint_url", endpoint},
		{"key", accessKey},
		{"password", secretKey},
		{"profile", parameter("profile")},
		{"s3_additional_kwargs.SSEKMSKeyId", parameter("kmskeyid")},
		{"s3_additional_kwargs.ServerSideEncryption", parameter("ssetype")},
		{"secret", secretKey},
		{"token", token},
		{"use_ssl", nil},
		{"username", accessKey},
	}
}

// gcsOptions are those of gcsfs.
func gcsOptions() []fsspecOption {
	return []fsspecOption{
		{"access", nil},
		{"check_connection", nil},
		{"consistency", nil},
		{"default_location", nil},
		{"endpoint_url", func(p *fsspecPlace, _, v string) error { return p.setEndpoint(v) }},
		{"project", nil}, // whose buckets are made and listed
		{"secure_serialize", nil},
		{"token", (*fsspecPlace).setGoogleToken},
		{"token.*", (*fsspecPlace).setGoogleMember},
	}
}

// bucketURL keeps a question mark, which would begin the parameters of the URL,
// out of the path.
func bucketURL(scheme string) func(string, *fsspecPlace) (string, error) {
	return func(root string, p *fsspecPlace) (string, error) {
		if strings.Contains(root, "?") {
			return "", invalid("root_path holds a question mark")
		}
		return withQuery(scheme+strings.TrimLeft(root, "/"), p.query), nil
	}
}

func withQuery(place string, query url.Values) string {
	if len(query) == 0 {
		return place
	}
	return place + "?" + query.Encode()
}

// parameter is an option that a URL holds under another name.
func parameter(name string) func(p *fsspecPlace, key, value string) error {
	return func(p *fsspecPlace, _, v string) error { p.query.Set(name, v); return nil }
}

func (p *fsspecPlace) setEndpoint(v string) error {
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "":
		return errors.New("it is written like http://127.0.0.1:9000")
	case u.User != nil:
		return errors.New("it must hold no password")
	}
	p.query.Set("endpoint", v)
	return nil
}

func (p *fsspecPlace) setAnonymous(_, v string) error {
	if !isOff(v) {
		p.query.Set("anonymous", "true")
	}
	return nil
}

func (p *fsspecPlace) setAddressing(_, v string) error {
	switch v {
	case "path", "virtual":
		p.query.Set("use_path_style", strconv.FormatBool(v == "path"))
	case "auto":
	default:
		return errors.New("it is path, virtual or auto")
	}
	return nil
}

// setGoogleToken takes the name of a way to authenticate, a file, or a token.
func (p *fsspecPlace) setGoogleToken(_, v string) error {
	file := expandHome(v, p.env)
	_, err := os.Stat(file)
	switch {
	case v == "anon":
		p.query.Set("anonymous", "true")
	case v == "google_default" || v == "cloud":
	case v == "cache" || v == "browser":
		return errors.New("tokens that gcsfs keeps for itself are not read; use google_default, a file or a token")
	case err == nil:
		p.GCS.CredentialsFile = file
	case strings.ContainsAny(v, `/\`) && strings.HasSuffix(v, ".json"):
		return errors.New("there is no such file")
	default:
		p.GCS.AccessToken = store.Secret(v)
	}
	return nil
}

// setGoogleMember collects credentials that are given member by member.
func (p *fsspecPlace) setGoogleMember(key, v string) error {
	members := map[string]string{"type": "authorized_user"}
	if p.GCS.CredentialsJSON != "" {
		if err := json.Unmarshal([]byte(p.GCS.CredentialsJSON), &members); err != nil {
			return errors.New("the members before it make no JSON")
		}
	}
	members[strings.TrimPrefix(key, "token.")] = v
	text, err := json.Marshal(members)
	p.GCS.CredentialsJSON = store.Secret(text)
	return err
}

// hdfsOptions are those of pyarrow's client.
func hdfsOptions() []fsspecOption {
	return []fsspecOption{
		{"extra_conf.*", func(p *fsspecPlace, key, v string) error {
			return p.setConf(strings.TrimPrefix(key, "extra_conf."), v)
		}},
		{"host", func(p *fsspecPlace, _, v string) error { p.host = v; return nil }},
		{"kerb_ticket", parameter("kerb_ticket")},
		{"port", func(p *fsspecPlace, _, v string) error {
			if n, err := strconv.Atoi(v); err != nil || n < 0 || n > 65535 {
				return errors.New("it is no port")
			}
			p.port = v
			return nil
		}},
		{"replication", func(p *fsspecPlace, _, v string) error { return p.setConf("dfs.replication", v) }},
		{"user", parameter("user")},
	}
}

func (p *fsspecPlace) setConf(name, value string) error {
	if p.HDFS.ExtraConf == nil {
		p.HDFS.ExtraConf = make(map[string]string)
	}
	p.HDFS.ExtraConf[name] = value
	return nil
}

// hdfsURL takes the host from the option. Without it that of the path counts,
// which pyarrow passes over in favour of the default of Hadoop's configuration.
func hdfsURL(root string, p *fsspecPlace) (string, error) {
	host, path := "", strings.TrimLeft(root, "/")
	if p.isURL {
		host, path, _ = strings.Cut(root, "/")
	}
	if p.host != "" {
		host = strings.TrimSuffix(strings.TrimPrefix(p.host, "hdfs://"), "/")
	}
	if host == "default" {
		host = ""
	}
	if p.port != "" && p.port != "0" && host != "" {
		host += ":" + p.port
	}
	if strings.Contains(path, "?") {
		return "", invalid("root_path holds a question mark")
	}
	return withQuery("hdfs://"+host+"/"+strings.TrimLeft(path, "/"), p.query), nil
}

func dbfsOptions() []fsspecOption {
	return []fsspecOption{
		{"instance", func(p *fsspecPlace, _, v string) error { p.DBFS.Host = v; return nil }},
		{"token", func(p *fsspecPlace, _, v string) error { p.DBFS.Token = store.Secret(v); return nil }},
	}
}

func dbfsURL(root string, _ *fsspecPlace) (string, error) {
	return "dbfs:/" + strings.TrimLeft(strings.TrimPrefix(root, "dbfs:"), "/"), nil
}
