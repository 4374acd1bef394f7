// Writes tables as Pebble makes them with options that lakeFS does not use, for the reader's tests:
//
//	go mod tidy && go run . ../../../engine/sstable/testdata
//
// The records are a function of their number, which engine/sstable/foreign_test.ts computes again.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/bloom"
	"github.com/cockroachdb/pebble/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/sstable"
	"github.com/cockroachdb/pebble/vfs"
)

func main() {
	tables := []struct {
		name    string
		records int
		options sstable.WriterOptions
	}{
		{"plain", 100, sstable.WriterOptions{Compression: sstable.NoCompression}},
		{"zstd", 600, sstable.WriterOptions{Compression: sstable.ZstdCompression}},
		{"two_level", 600, sstable.WriterOptions{
			Compression: sstable.SnappyCompression, BlockSize: 512, IndexBlockSize: 128,
		}},
		{"filter", 300, sstable.WriterOptions{
			Compression: sstable.SnappyCompression, FilterPolicy: bloom.FilterPolicy(10), FilterType: sstable.TableFilter,
		}},
		{"all", 600, sstable.WriterOptions{
			Compression: sstable.ZstdCompression, BlockSize: 512, IndexBlockSize: 128,
			FilterPolicy: bloom.FilterPolicy(10), FilterType: sstable.TableFilter,
		}},
	}
	for _, table := range tables {
		table.options.TableFormat = sstable.TableFormatRocksDBv2
		path := filepath.Join(os.Args[1], table.name+".sst")
		check(write(path, table.records, table.options))
	}
	check(writeDeletions(filepath.Join(os.Args[1], "deletion.sst"), false))
	check(writeDeletions(filepath.Join(os.Args[1], "range_deletion.sst"), true))
}

func write(path string, records int, options sstable.WriterOptions) error {
	writer, err := open(path, options)
	if err != nil {
		return err
	}
	for i := 0; i < records; i++ {
		if err := writer.Set(key(i), value(i)); err != nil {
			return err
		}
	}
	return writer.Close()
}

// A table with what no range or metarange has: a deleted key, or a deleted range of keys.
func writeDeletions(path string, ofRange bool) error {
	writer, err := open(path, sstable.WriterOptions{TableFormat: sstable.TableFormatRocksDBv2})
	if err != nil {
		return err
	}
	if err := writer.Set(key(0), value(0)); err != nil {
		return err
	}
	if ofRange {
		err = writer.DeleteRange(key(1), key(2))
	} else {
		err = writer.Delete(key(1))
	}
	if err != nil {
		return err
	}
	return writer.Close()
}

func open(path string, options sstable.WriterOptions) (*sstable.Writer, error) {
	file, err := vfs.Default.Create(path)
	if err != nil {
		return nil, err
	}
	return sstable.NewWriter(objstorageprovider.NewFileWritable(file), options), nil
}

func key(i int) []byte {
	return []byte(fmt.Sprintf("dir-%02d/file-%05d", i/50, i))
}

func value(i int) []byte {
	text := fmt.Sprintf("value %d of a table that Pebble wrote; ", i)
	return []byte(strings.Repeat(text, 4)[:(i*7)%90+10])
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
