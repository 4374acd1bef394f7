package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

const largeBytes = 1_000_000_000

// Large is what moving one large object prints, in bytes a second.
type Large struct {
	Up   float64 `json:"up"`
	Down float64 `json:"down"`
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

// moveLarge uploads an object of 1 GB and reads it back, comparing every byte.
func moveLarge(server *Server, repository string) (Large, error) {
	client := &http.Client{Transport: server.client.Transport}
	send := func(method, path string, body io.Reader, status int) (*http.Response, error) {
		request, err := http.NewRequest(method, server.root+path, body)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", server.authorization)
		request.ContentLength = map[bool]int64{true: largeBytes, false: 0}[body != nil]
		answer, err := client.Do(request)
		if err == nil && answer.StatusCode != status {
			answer.Body.Close()
			err = fmt.Errorf("%s of the large object: %d", method, answer.StatusCode)
		}
		return answer, err
	}
	root := "/repositories/" + repository
	begun := time.Now()
	answer, err := send("POST", root+"/branches/uploads/objects?path=large", newPattern(), 201)
	if err != nil {
		return Large{}, err
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	up := largeBytes / time.Since(begun).Seconds()

	begun = time.Now()
	answer, err = send("GET", root+"/refs/uploads/objects?path=large", nil, 200)
	if err != nil {
		return Large{}, err
	}
	defer answer.Body.Close()
	expected := newPattern()
	seen, wanted := make([]byte, 256*1024), make([]byte, 256*1024)
	total := 0
	for {
		count, err := answer.Body.Read(seen)
		if _, short := io.ReadFull(expected, wanted[:count]); short != nil || !bytes.Equal(seen[:count], wanted[:count]) {
			return Large{}, fmt.Errorf("the large object differs near byte %d", total)
		}
		total += count
		if err == io.EOF {
			break
		}
		if err != nil {
			return Large{}, err
		}
	}
	if total != largeBytes {
		return Large{}, fmt.Errorf("the large object has %d bytes", total)
	}
	return Large{up, largeBytes / time.Since(begun).Seconds()}, nil
}
