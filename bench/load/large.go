package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

const largeBytes = 1_000_000_000

// Moved is what moving one large object prints.
type Moved struct {
	// Bytes a second.
	Rate float64 `json:"rate"`
}

// pattern gives the bytes of the large object without having them.
type pattern struct {
	block []byte
	at    int
}

func newPattern() *pattern {
	var block []byte
	for number := 0; number < 1021; number++ {
		block = append(block, contentOf(number)...)
	}
	return &pattern{block, 0}
}

func (source *pattern) Read(into []byte) (int, error) {
	if source.at >= largeBytes {
		return 0, io.EOF
	}
	from := source.at % len(source.block)
	count := copy(into[:min(len(into), largeBytes-source.at)], source.block[from:])
	source.at += count
	return count, nil
}

const largePath = "/branches/uploads/objects?path=large"

// uploadLarge uploads an object of 1 GB.
func uploadLarge(server *Server, repository string) (Moved, error) {
	begun := time.Now()
	answer, err := askLarge(server, "POST", "/repositories/"+repository+largePath, newPattern(), 201)
	if err != nil {
		return Moved{}, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return Moved{largeBytes / time.Since(begun).Seconds()}, err
}

// downloadLarge reads it back, comparing every byte.
func downloadLarge(server *Server, repository string) (Moved, error) {
	begun := time.Now()
	answer, err := askLarge(server, "GET", "/repositories/"+repository+"/refs/uploads/objects?path=large", nil, 200)
	if err != nil {
		return Moved{}, err
	}
	defer answer.Body.Close()
	expected := newPattern()
	seen, wanted := make([]byte, 256*1024), make([]byte, 256*1024)
	total := 0
	for {
		count, err := answer.Body.Read(seen)
		if _, short := io.ReadFull(expected, wanted[:count]); short != nil || !bytes.Equal(seen[:count], wanted[:count]) {
			return Moved{}, fmt.Errorf("the large object differs near byte %d", total)
		}
		total += count
		if err == io.EOF {
			break
		}
		if err != nil {
			return Moved{}, err
		}
	}
	if total != largeBytes {
		return Moved{}, fmt.Errorf("the large object has %d bytes", total)
	}
	return Moved{largeBytes / time.Since(begun).Seconds()}, nil
}

func askLarge(server *Server, method, path string, body io.Reader, status int) (*http.Response, error) {
	request, err := http.NewRequest(method, server.root+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", server.authorization)
	if body != nil {
		request.ContentLength = largeBytes
	}
	client := &http.Client{Transport: server.client.Transport}
	answer, err := client.Do(request)
	if err == nil && answer.StatusCode != status {
		answer.Body.Close()
		err = fmt.Errorf("%s of the large object: %d", method, answer.StatusCode)
	}
	return answer, err
}
