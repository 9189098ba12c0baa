package mutant

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// S3Defect is what is wrong with an S3 server. The zero value is nothing.
type S3Defect struct {
	Name     string
	Case     string // of storetest that must notice it, "" is any
	request  func(*http.Request)
	response func(*http.Response) error
}

// S3 are defects of servers that call themselves compatible with S3.
func S3() []S3Defect {
	return []S3Defect{
		{Name: "a PUT ignores If-None-Match", request: without(http.MethodPut, "If-None-Match")},
		{Name: "a PUT ignores If-Match", request: without(http.MethodPut, "If-Match")},
		{Name: "a GET ignores If-Match", request: without(http.MethodGet, "If-Match")},
		{Name: "a range is ignored", request: without(http.MethodGet, "Range")},
		{Name: "a range begins one byte late", request: shiftRange},
		{Name: "a multipart upload ignores If-None-Match", Case: "of several creating one long object at once exactly one wins", request: without(http.MethodPost, "If-None-Match")},
		{Name: "a multipart upload loses a part", Case: "a stream of the announced length is stored", request: dropPart},
		{Name: "a listing is cut without saying so", response: cutListing},
		{Name: "a failed condition is told as success", response: status(http.StatusPreconditionFailed, http.StatusOK)},
		{Name: "an upload that was broken off is forgotten", Case: "an interrupted upload is resumed", request: forgetUploads()},
		{Name: "an abort is told as done and is not", Case: "an aborted upload leaves nothing", request: ignoreAborts},
	}
}

// Before is a server that speaks to the sound one at endpoint and has the defect.
func (d S3Defect) Before(endpoint, accessKey, secretKey string) http.Handler {
	target, err := url.Parse(endpoint)
	if err != nil {
		return http.NotFoundHandler()
	}
	who := aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}
	return &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.URL.RawQuery = p.In.URL.RawQuery
			p.Out.Host = target.Host
			if d.request != nil {
				d.request(p.Out)
			}
			sign(p.Out, who)
		},
		ModifyResponse: d.response,
	}
}

// sign signs again what was changed.
func sign(r *http.Request, who aws.Credentials) {
	sum := r.Header.Get("X-Amz-Content-Sha256")
	r.Header.Del("Authorization")
	for _, hop := range []string{"Accept-Encoding", "X-Forwarded-For"} {
		r.Header.Del(hop)
	}
	if err := v4.NewSigner().SignHTTP(r.Context(), who, r, sum, "s3", "us-east-1", time.Now(), func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }); err != nil {
		r.Header.Del("Authorization") // the server will refuse it
	}
}

func without(method, header string) func(*http.Request) {
	return func(r *http.Request) {
		if r.Method == method {
			r.Header.Del(header)
		}
	}
}

func shiftRange(r *http.Request) {
	var from, to int64
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n == 2 && from > 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from+1, to+1))
	}
}

// dropPart takes the second part out of the list that ends a multipart upload.
func dropPart(r *http.Request) {
	if r.Method != http.MethodPost || !r.URL.Query().Has("uploadId") {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	body = regexp.MustCompile(`(?s)<Part>(?:[^P]|P[^a])*?<PartNumber>2</PartNumber>.*?</Part>|<Part>(?:(?:[^<]|<[^/]|</[^P])*?)<PartNumber>2</PartNumber></Part>`).ReplaceAll(body, nil)
	setBody(&r.Body, &r.ContentLength, r.Header, body)
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
}

// forgetUploads has uploads go once somebody asked which there are.
func forgetUploads() func(*http.Request) {
	var mu sync.Mutex
	forgotten := map[string]bool{} // by id of the upload, false while it has parts
	return func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		query := r.URL.Query()
		id := query.Get("uploadId")
		switch {
		case r.Method == http.MethodGet && query.Has("uploads"):
			for id := range forgotten {
				forgotten[id] = true
			}
		case r.Method == http.MethodPut && forgotten[id]:
			misname(r)
		case r.Method == http.MethodPut && id != "":
			forgotten[id] = false
		}
	}
}

func ignoreAborts(r *http.Request) {
	if r.Method == http.MethodDelete && r.URL.Query().Has("uploadId") {
		misname(r) // and of one that is gone the store believes that it was aborted
	}
}

// misname asks for an upload that there is not.
func misname(r *http.Request) {
	query := r.URL.Query()
	query.Set("uploadId", "none")
	r.URL.RawQuery = query.Encode()
}

// cutListing drops the last object of a listing.
func cutListing(r *http.Response) error {
	if !r.Request.URL.Query().Has("list-type") || r.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	from, to := bytes.LastIndex(body, []byte("<Contents>")), bytes.LastIndex(body, []byte("</Contents>"))
	if from >= 0 && to > from {
		body = append(body[:from:from], body[to+len("</Contents>"):]...)
	}
	setBody(&r.Body, &r.ContentLength, r.Header, body)
	return nil
}

func status(from, to int) func(*http.Response) error {
	return func(r *http.Response) error {
		if r.StatusCode == from {
			r.StatusCode, r.Status = to, fmt.Sprintf("%d %s", to, http.StatusText(to))
		}
		return nil
	}
}

func setBody(body *io.ReadCloser, length *int64, header http.Header, b []byte) {
	*body, *length = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	header.Set("Content-Length", fmt.Sprint(len(b)))
	for name := range header {
		if strings.HasPrefix(strings.ToLower(name), "x-amz-checksum-") {
			header.Del(name)
		}
	}
}
