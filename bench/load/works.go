package main

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
)

// Work is one kind of work; do is one round of it, by one client.
type Work struct {
	do func(client, _ int) error
}

type stats struct {
	Path     string `json:"path"`
	Checksum string `json:"checksum"`
	Size     int    `json:"size_bytes"`
}

// checkPage compares a page of 1,000 results with what it must be. Decoding it would take longer than the server does to make
// it, so each result is looked for where it must come, and then what is said of it.
func checkPage(answer []byte, first int, sums []string) error {
	if !bytes.Contains(answer, []byte(`"has_more":true`)) || !bytes.Contains(answer, []byte(`"results":1000`)) {
		return fmt.Errorf("a page begins %.300q", answer)
	}
	_, rest, _ := bytes.Cut(answer, []byte(`"results":[`))
	for number := first; number < first+1000; number++ {
		head := []byte(`{"path":"` + pathOf(number) + `"`)
		after, isNext := bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(",")), head)
		result := after
		if end := bytes.Index(after, []byte(`{"path":`)); end >= 0 {
			result, rest = after[:end], after[end:]
		}
		if !isNext || !bytes.Contains(result, []byte(`"`+sums[number]+`"`)) ||
			!bytes.Contains(result, []byte(fmt.Sprintf(`"size_bytes":%d`, objectBytes))) {
			return fmt.Errorf("%q is listed as %.300q", pathOf(number), after)
		}
	}
	return nil
}

// checkStats compares what an answer says of an object with what it is.
func checkStats(seen stats, path string, content []byte) error {
	sum := md5.Sum(content)
	if seen.Path == path && seen.Size == len(content) && seen.Checksum == hex.EncodeToString(sum[:]) {
		return nil
	}
	return fmt.Errorf("%q is said to be %+v", path, seen)
}

func worksOn(server *Server, s3 *S3, repository string, objects int) map[string]Work {
	root := "/repositories/" + repository
	// Names that no other process of this kind uses.
	run := fmt.Sprintf("%d-%d", os.Getpid(), rand.Int63())
	var made atomic.Int64
	var branches sync.Map
	sums := make([]string, objects)
	for number := range sums {
		sum := md5.Sum(contentOf(number))
		sums[number] = hex.EncodeToString(sum[:])
	}
	upload := func(branch, path string, content []byte) error {
		at := fmt.Sprintf("%s/branches/%s/objects?path=%s", root, branch, url.QueryEscape(path))
		answer, err := server.ask("POST", at, 201, content, "application/octet-stream")
		if err != nil {
			return err
		}
		var seen stats
		if err := json.Unmarshal(answer, &seen); err != nil {
			return err
		}
		return checkStats(seen, path, content)
	}
	branch := func(name string) error {
		body, _ := json.Marshal(map[string]string{"name": name, "source": "main"})
		answer, err := server.ask("POST", root+"/branches", 201, body, "application/json")
		if err == nil && len(answer) != 64 {
			err = fmt.Errorf("branch %s is made at %q", name, answer)
		}
		return err
	}
	commit := func(branch, message string) error {
		body, _ := json.Marshal(map[string]string{"message": message})
		answer, err := server.ask("POST", fmt.Sprintf("%s/branches/%s/commits", root, branch), 201, body, "application/json")
		if err != nil {
			return err
		}
		var seen struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal(answer, &seen); err != nil || seen.Message != message {
			return fmt.Errorf("%q was committed as %q: %v", message, seen.Message, err)
		}
		return nil
	}
	works := s3Works(s3, repository, objects, sums)
	for name, work := range map[string]Work{
		"empty": {func(int, int) error {
			answer, err := server.ask("GET", "/healthcheck", 204, nil, "")
			if err == nil && len(answer) != 0 {
				err = fmt.Errorf("an empty answer has %d bytes", len(answer))
			}
			return err
		}},
		"stat": {func(int, int) error {
			number := rand.Intn(objects)
			answer, err := server.ask("GET", root+"/refs/main/objects/stat?path="+url.QueryEscape(pathOf(number)), 200, nil, "")
			if err != nil {
				return err
			}
			var seen stats
			if err := json.Unmarshal(answer, &seen); err != nil {
				return err
			}
			if seen.Path != pathOf(number) || seen.Checksum != sums[number] || seen.Size != objectBytes {
				return fmt.Errorf("%q is said to be %+v", pathOf(number), seen)
			}
			return nil
		}},
		"get": {func(int, int) error {
			number := rand.Intn(objects)
			answer, err := server.ask("GET", root+"/refs/main/objects?path="+url.QueryEscape(pathOf(number)), 200, nil, "")
			if err == nil && !bytes.Equal(answer, contentOf(number)) {
				err = fmt.Errorf("%q has other bytes", pathOf(number))
			}
			return err
		}},
		"list": {func(int, int) error {
			first := 1 + rand.Intn(objects-1001)
			at := root + "/refs/main/objects/ls?amount=1000&after=" + url.QueryEscape(pathOf(first-1))
			answer, err := server.ask("GET", at, 200, nil, "")
			if err != nil {
				return err
			}
			return checkPage(answer, first, sums)
		}},
		"upload": {func(int, int) error {
			number := int(made.Add(1))
			return upload("uploads", fmt.Sprintf("%s/%d", run, number), contentOf(1<<40+number))
		}},
		"branch": {func(int, int) error {
			return branch(fmt.Sprintf("b-%s-%d", run, made.Add(1)))
		}},
		// Each client has a branch of its own.
		"commit": {func(client, _ int) error {
			name, number := fmt.Sprintf("c-%s-%d", run, client), int(made.Add(1))
			path := fmt.Sprintf("%s/%d", run, number)
			if _, isThere := branches.LoadOrStore(name, true); !isThere {
				if err := branch(name); err != nil {
					return err
				}
			}
			if err := upload(name, path, contentOf(1<<41+number)); err != nil {
				return err
			}
			return commit(name, path)
		}},
	} {
		works[name] = work
	}
	return works
}
