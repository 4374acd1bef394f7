// Runs each of versitygw's S3 client tests by itself, on a server without buckets. `run.ts` puts `tests.go` beside it.
//
// Before a test a line `=== NAME` is printed, and behind what the test prints `--- ok` or `--- failed`.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/versity/versitygw/tests/integration"
)

type test struct {
	name string
	run  func(*integration.S3Conf) error
}

var endpoint, key, secret = os.Getenv("ENDPOINT"), os.Getenv("ACCESS_KEY"), os.Getenv("SECRET_KEY")

func main() {
	conf := integration.NewS3Conf(
		integration.WithAccess(key),
		integration.WithSecret(secret),
		integration.WithRegion("us-east-1"),
		integration.WithEndpoint(endpoint),
	)
	for _, one := range tests {
		clean()
		fmt.Println("=== " + one.name)
		if err := safely(one, conf); err != nil {
			fmt.Println("\n--- failed", err)
		} else {
			fmt.Println("\n--- ok")
		}
	}
}

func safely(one test, conf *integration.S3Conf) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("it panics: %v", cause)
		}
	}()
	return one.run(conf)
}

// What a failed test leaves behind is in the way of the next ones. A bucket that cannot be emptied by S3 can by the API.
func clean() {
	var page struct{ Results []struct{ ID string } }
	response := ask("GET", "/repositories?amount=1000")
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
		panic(err)
	}
	for _, repository := range page.Results {
		ask("DELETE", "/repositories/"+repository.ID+"?force=true").Body.Close()
	}
}

func ask(method, path string) *http.Response {
	request, err := http.NewRequest(method, endpoint+"/api/v1"+path, nil)
	if err != nil {
		panic(err)
	}
	request.SetBasicAuth(key, secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	return response
}
