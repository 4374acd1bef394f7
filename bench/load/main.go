// Load on a lakeFS server, from keep-alive clients that compare every answer with what it must be.
//
//	load files FOLDER COUNT        writes the objects that "stat", "get" and "list" ask for
//	load run NAME [flags]          does one kind of work for a while; prints one JSON object
//	load run large [flags]         moves one object of 1 GB there and back
//
// The server is told by -url, -key and -secret. Objects have 1 KiB, made of their number.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const objectBytes = 1024

// pathOf names the object of a number, so that names are in the order of numbers.
func pathOf(number int) string {
	return fmt.Sprintf("d%03d/o%07d", number/1000, number)
}

// contentOf makes the bytes of an object.
func contentOf(number int) []byte {
	bytes := make([]byte, objectBytes)
	state := uint64(number)*2862933555777941757 + 3037000493
	for i := range bytes {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		bytes[i] = byte(state)
	}
	return bytes
}

func writeFiles(folder string, count int) error {
	for number := 0; number < count; number++ {
		path := filepath.Join(folder, pathOf(number))
		if number%1000 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, contentOf(number), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Result is what a run prints.
type Result struct {
	Name    string  `json:"name"`
	Clients int     `json:"clients"`
	Done    int     `json:"done"`
	Seconds float64 `json:"seconds"`
	Rate    float64 `json:"rate"`
	// Milliseconds that half, and all but one in a hundred, of the answers took at most.
	Median float64 `json:"median_ms"`
	P99    float64 `json:"p99_ms"`
}

// run has clients work side by side until the time is over; the first failure ends it.
func run(name string, clients int, length time.Duration, work func(client, round int) error) (Result, error) {
	var group sync.WaitGroup
	var once sync.Once
	var failure error
	var hasFailed atomic.Bool
	times := make([][]float64, clients)
	start := time.Now()
	for client := 0; client < clients; client++ {
		group.Add(1)
		go func(client int) {
			defer group.Done()
			for round := 0; time.Since(start) < length && !hasFailed.Load(); round++ {
				begun := time.Now()
				if err := work(client, round); err != nil {
					once.Do(func() { failure = err })
					hasFailed.Store(true)
					return
				}
				times[client] = append(times[client], float64(time.Since(begun))/1e6)
			}
		}(client)
	}
	group.Wait()
	seconds := time.Since(start).Seconds()
	if failure != nil {
		return Result{}, failure
	}
	var all []float64
	for _, own := range times {
		all = append(all, own...)
	}
	sort.Float64s(all)
	return Result{name, clients, len(all), seconds, float64(len(all)) / seconds,
		all[len(all)/2], all[len(all)*99/100]}, nil
}

func main() {
	if err := start(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func start(args []string) error {
	if len(args) == 3 && args[0] == "files" {
		count, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return writeFiles(args[1], count)
	}
	if len(args) < 2 || args[0] != "run" {
		return fmt.Errorf("usage: load files FOLDER COUNT | load run NAME [flags]")
	}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	url := flags.String("url", "", "of the server")
	key := flags.String("key", "", "access key")
	secret := flags.String("secret", "", "secret access key")
	repository := flags.String("repository", "bench", "that is worked in")
	clients := flags.Int("clients", 1, "side by side")
	seconds := flags.Float64("seconds", 3, "how long")
	objects := flags.Int("objects", 10000, "how many are committed")
	if err := flags.Parse(args[2:]); err != nil {
		return err
	}
	server := newServer(*url, *key, *secret, *clients)
	moves := map[string]func(*Server, string) (Moved, error){"large-up": uploadLarge, "large-down": downloadLarge}
	if move, isMove := moves[args[1]]; isMove {
		result, err := move(server, *repository)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(result)
	}
	works := worksOn(server, newS3(server, *url, *key, *secret), *repository, *objects)
	work, isKnown := works[args[1]]
	if !isKnown {
		return fmt.Errorf("there is no work named %q", args[1])
	}
	if _, err := run(args[1], *clients, 300*time.Millisecond, work.do); err != nil {
		return err
	}
	result, err := run(args[1], *clients, time.Duration(*seconds*1e9), work.do)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}
