// polybake's Go client. Usage: run THREADS MODEL_FILE [side-by-side].
package main

import (
	"context"
	"log"
	"os"
	"strconv"

	allminilml6v2 "all-minilm-l6-v2"
	"protocol"
)

func main() {
	threads, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	options := allminilml6v2.Options{Threads: threads}
	if len(os.Args) > 3 {
		options = allminilml6v2.Options{Threads: 1, Concurrency: threads}
	}
	embedder, err := allminilml6v2.Open(os.Args[2], &options)
	if err != nil {
		log.Fatal(err)
	}
	defer embedder.Close()
	protocol.Answer(func(texts []string) ([][]float32, error) {
		return embedder.Embed(context.Background(), texts, nil)
	}, "onnxruntime", "onnxruntime_go", "wazero")
}
