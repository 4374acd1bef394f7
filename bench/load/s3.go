package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// S3 is the server's other face: requests signed by version 4, as an SDK signs them.
type S3 struct {
	root   string
	key    string
	secret string
	client *http.Client
	signer atomic.Pointer[signer]
}

// signer is what is derived from the secret for one day.
type signer struct {
	scope string
	key   []byte
}

func newS3(server *Server, url, key, secret string) *S3 {
	return &S3{root: url, key: key, secret: secret, client: server.client}
}

func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func hexSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func (s3 *S3) signerOf(day string) *signer {
	scope := day + "/us-east-1/s3/aws4_request"
	if known := s3.signer.Load(); known != nil && known.scope == scope {
		return known
	}
	key := sum(sum(sum(sum([]byte("AWS4"+s3.secret), day), "us-east-1"), "s3"), "aws4_request")
	made := &signer{scope, key}
	s3.signer.Store(made)
	return made
}

// ask sends a request; path and query are as they are signed, the query's names in their order.
func (s3 *S3) ask(method, path, query string, body []byte) (*http.Response, []byte, error) {
	target := s3.root + path
	if query != "" {
		target += "?" + query
	}
	request, err := http.NewRequest(method, target, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now().UTC().Format("20060102T150405Z")
	signer := s3.signerOf(now[:8])
	hash := hexSum(body)
	signed := "host;x-amz-content-sha256;x-amz-date"
	canonical := strings.Join([]string{method, path, query, "host:" + request.URL.Host, "x-amz-content-sha256:" + hash,
		"x-amz-date:" + now, "", signed, hash}, "\n")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", now, signer.scope, hexSum([]byte(canonical))}, "\n")
	request.Header.Set("X-Amz-Date", now)
	request.Header.Set("X-Amz-Content-Sha256", hash)
	request.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
		s3.key, signer.scope, signed, hex.EncodeToString(sum(signer.key, toSign))))
	answer, err := s3.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	whole, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != 200 {
		err = fmt.Errorf("%s %s: %d: %.300s", method, path, answer.StatusCode, whole)
	}
	return answer, whole, err
}

// checkListing compares a page of 1,000 keys with what it must be, as checkPage does.
func checkListing(answer []byte, first int, sums []string) error {
	_, rest, _ := bytes.Cut(answer, []byte("<Contents>"))
	for number := first; number < first+1000; number++ {
		entry, after, _ := bytes.Cut(rest, []byte("</Contents>"))
		isRight := bytes.HasPrefix(entry, []byte("<Key>main/"+pathOf(number)+"</Key>")) &&
			bytes.Contains(entry, []byte(sums[number])) &&
			bytes.Contains(entry, []byte(fmt.Sprintf("<Size>%d</Size>", objectBytes)))
		if !isRight {
			return fmt.Errorf("%q is listed as %.300q", pathOf(number), entry)
		}
		rest = bytes.TrimPrefix(after, []byte("<Contents>"))
	}
	return nil
}

func s3Works(s3 *S3, repository string, objects int, sums []string) map[string]Work {
	run := fmt.Sprintf("s3-%d-%d", os.Getpid(), rand.Int63())
	var made atomic.Int64
	at := func(branch, path string) string { return "/" + repository + "/" + branch + "/" + path }
	return map[string]Work{
		"s3-head": {func(int, int) error {
			number := rand.Intn(objects)
			answer, _, err := s3.ask("HEAD", at("main", pathOf(number)), "", nil)
			if err == nil && answer.Header.Get("Etag") != `"`+sums[number]+`"` {
				err = fmt.Errorf("%q is said to be %s", pathOf(number), answer.Header.Get("Etag"))
			}
			return err
		}},
		"s3-get": {func(int, int) error {
			number := rand.Intn(objects)
			_, whole, err := s3.ask("GET", at("main", pathOf(number)), "", nil)
			if err == nil && !bytes.Equal(whole, contentOf(number)) {
				err = fmt.Errorf("%q has other bytes", pathOf(number))
			}
			return err
		}},
		"s3-list": {func(int, int) error {
			first := 1 + rand.Intn(objects-1001)
			query := "list-type=2&prefix=main%2F&start-after=" + url.QueryEscape("main/"+pathOf(first-1))
			_, whole, err := s3.ask("GET", "/"+repository, query, nil)
			if err != nil {
				return err
			}
			return checkListing(whole, first, sums)
		}},
		"s3-put": {func(int, int) error {
			number := int(made.Add(1))
			content := contentOf(1<<42 + number)
			answer, _, err := s3.ask("PUT", at("uploads", fmt.Sprintf("%s/%d", run, number)), "", content)
			sum := md5.Sum(content)
			if err == nil && answer.Header.Get("Etag") != `"`+hex.EncodeToString(sum[:])+`"` {
				err = fmt.Errorf("an upload is said to be %s", answer.Header.Get("Etag"))
			}
			return err
		}},
	}
}
