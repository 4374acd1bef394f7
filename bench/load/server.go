package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Server is asked over connections that are kept.
type Server struct {
	root          string
	authorization string
	client        *http.Client
}

func newServer(url, key, secret string, clients int) *Server {
	transport := &http.Transport{MaxIdleConns: clients, MaxIdleConnsPerHost: clients, DisableCompression: true}
	pair := base64.StdEncoding.EncodeToString([]byte(key + ":" + secret))
	return &Server{url + "/api/v1", "Basic " + pair, &http.Client{Transport: transport, Timeout: time.Minute}}
}

// ask sends a request and reads its answer whole; another status than the one that is wanted is an error.
func (server *Server) ask(method, path string, status int, body []byte, contentType string) ([]byte, error) {
	request, err := http.NewRequest(method, server.root+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", server.authorization)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := server.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	whole, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != status {
		return nil, fmt.Errorf("%s %s: %d instead of %d: %.300s", method, path, answer.StatusCode, status, whole)
	}
	return whole, nil
}
