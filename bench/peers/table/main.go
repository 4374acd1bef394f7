// The peer of bench/table_program.ts: Pebble's tables over the same records, by the same commands.
//
//	table write FILE RECORDS            writes a table; Pebble's writer flushes it to the disk
//	table scan FILE                     walks over it
//	table get FILE RECORDS              looks keys up in a scattered order
//	table digest FILE                   SHA-256 over all keys and values, not timed
//
// Each prints the seconds that it took, without start-up and making of records, and an answer to compare.
//
// Of what the engine does with a repository's ranges, the part that is tables alone, to tell how fast a machine is on a
// day; these have no counterpart in table_program.ts:
//
//	table write-unflushed FILE RECORDS  writes a table without flushing it
//	table get-cached FILE RECORDS       random look-ups with all blocks in the cache, after a round to fill it
//	table get-uncached FILE RECORDS     the same with a cache that holds next to nothing: each reads and unpacks a block
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/sstable"
	"github.com/cockroachdb/pebble/vfs"
)

const (
	valueBytes = 180
	lookUps    = 100_000
	// Coprime with every number of records that is no multiple of it.
	stride = 7_919
	// Of the caches that hold everything and next to nothing.
	wholeCacheBytes = 4 << 30
	tinyCacheBytes  = 1
)

func main() {
	file := os.Args[2]
	switch os.Args[1] {
	case "write":
		write(file, number(3), true)
	case "write-unflushed":
		write(file, number(3), false)
	case "scan":
		scan(file)
	case "get":
		get(file, number(3))
	case "get-cached":
		getRandom(file, number(3), wholeCacheBytes)
	case "get-uncached":
		getRandom(file, number(3), tinyCacheBytes)
	case "digest":
		digest(file)
	default:
		fmt.Fprintf(os.Stderr, "no command %q\n", os.Args[1])
		os.Exit(2)
	}
}

func number(at int) int {
	n, err := strconv.Atoi(os.Args[at])
	check(err)
	return n
}

func key(i int) []byte {
	return []byte(fmt.Sprintf("folder-%04d/object-%08d", i/1000, i))
}

// Half of a value repeats, half is noise: it packs about as entries do.
func value(i int) []byte {
	out := make([]byte, valueBytes)
	state := uint32(i)*2654435761 + 1
	for at := range out {
		if at%2 == 0 {
			out[at] = 'a' + byte(at%26)
			continue
		}
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		out[at] = byte(state)
	}
	return out
}

func write(file string, records int, flushed bool) {
	keys, values := make([][]byte, records), make([][]byte, records)
	for i := range keys {
		keys[i], values[i] = key(i), value(i)
	}
	start := time.Now()
	output, err := vfs.Default.Create(file)
	check(err)
	if !flushed {
		output = unflushed{output}
	}
	writer := sstable.NewWriter(objstorageprovider.NewFileWritable(output), sstable.WriterOptions{
		TableFormat: sstable.TableFormatRocksDBv2, Compression: sstable.SnappyCompression,
	})
	for i := range keys {
		check(writer.Set(keys[i], values[i]))
	}
	check(writer.Close())
	answer(start, records)
}

// A file whose flush does nothing.
type unflushed struct{ vfs.File }

func (unflushed) Sync() error { return nil }

func open(file string, options sstable.ReaderOptions) (*sstable.Reader, sstable.Iterator) {
	input, err := vfs.Default.Open(file)
	check(err)
	readable, err := sstable.NewSimpleReadable(input)
	check(err)
	reader, err := sstable.NewReader(readable, options)
	check(err)
	iterator, err := reader.NewIter(nil, nil)
	check(err)
	return reader, iterator
}

func scan(file string) {
	start := time.Now()
	_, iterator := open(file, sstable.ReaderOptions{})
	count, total := 0, 0
	for key, lazy := iterator.First(); key != nil; key, lazy = iterator.Next() {
		count++
		total += len(key.UserKey) + len(lazy.InPlaceValue())
	}
	answer(start, count, total)
}

func get(file string, records int) {
	wanted := make([][]byte, lookUps)
	for i := range wanted {
		wanted[i] = key(i * stride % records)
	}
	start := time.Now()
	_, iterator := open(file, sstable.ReaderOptions{})
	found, sum := 0, uint32(0)
	for _, key := range wanted {
		if at, lazy := iterator.SeekGE(key, 0); at != nil && string(at.UserKey) == string(key) {
			found++
			sum = sum*31 + binary.LittleEndian.Uint32(lazy.InPlaceValue()[1:])
		}
	}
	answer(start, found, sum)
}

// Looks keys up in an order that a generator draws, so that neighbours in time are none in the file.
func getRandom(file string, records int, cacheBytes int64) {
	blocks := pebble.NewCache(cacheBytes)
	defer blocks.Unref()
	_, iterator := open(file, sstable.ReaderOptions{Cache: blocks})
	wanted := make([][]byte, lookUps)
	state := uint64(1)
	for i := range wanted {
		state = state*6364136223846793005 + 1442695040888963407
		wanted[i] = key(int(state>>33) % records)
	}
	rounds := 1
	if cacheBytes == wholeCacheBytes {
		for key, _ := iterator.First(); key != nil; key, _ = iterator.Next() {
		}
		rounds = 5
	}
	start := time.Now()
	found := 0
	for round := 0; round < rounds; round++ {
		for _, key := range wanted {
			if at, lazy := iterator.SeekGE(key, 0); at != nil && string(at.UserKey) == string(key) {
				found += len(lazy.InPlaceValue()) / valueBytes
			}
		}
	}
	answer(start, found)
}

func digest(file string) {
	start := time.Now()
	_, iterator := open(file, sstable.ReaderOptions{})
	hash := sha256.New()
	for key, lazy := iterator.First(); key != nil; key, lazy = iterator.Next() {
		hash.Write(key.UserKey)
		hash.Write(lazy.InPlaceValue())
	}
	answer(start, fmt.Sprintf("%x", hash.Sum(nil)))
}

func answer(start time.Time, values ...any) {
	fmt.Printf("%.6f", time.Since(start).Seconds())
	for _, value := range values {
		fmt.Printf(" %v", value)
	}
	fmt.Println()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
