// hugot on its backend in Go. Usage: run THREADS FOLDER BATCH_SIZE.
package main

import (
	"log"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/pipelines"

	"protocol"
)

func main() {
	runtime.GOMAXPROCS(number(os.Args[1]))
	session := must(hugot.NewGoSession())
	defer session.Destroy()
	pipeline := must(hugot.NewPipeline(session, hugot.FeatureExtractionConfig{
		ModelPath: os.Args[2],
		Name:      "all-MiniLM-L6-v2",
		Options:   []hugot.FeatureExtractionOption{pipelines.WithNormalization()},
	}))
	size := number(os.Args[3])
	protocol.Answer(func(texts []string) ([][]float32, error) {
		var vectors [][]float32
		for batch := range slices.Chunk(texts, size) {
			found, err := pipeline.RunPipeline(batch)
			if err != nil {
				return nil, err
			}
			vectors = append(vectors, found.Embeddings...)
		}
		return vectors, nil
	}, "hugot", "gomlx", "tokenizer")
}

func number(text string) int { return must(strconv.Atoi(text)) }

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
