package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	client "all-minilm-l6-v2"
)

func main() {
	count, _ := strconv.Atoi(os.Args[2])
	begin := time.Now()
	embedder, err := client.Open(os.Args[1], nil)
	if err != nil {
		panic(err)
	}
	defer embedder.Close()
	texts := make([]string, 0, 8192)
	for done := 1; done <= count; done++ {
		texts = append(texts, fmt.Sprintf("text number %d", done-1))
		if len(texts) < 8192 && done != count/10 && done != count {
			continue
		}
		if _, err := embedder.Embed(context.Background(), texts, nil); err != nil {
			panic(err)
		}
		texts = texts[:0]
		if done == count/10 || done == count {
			status, _ := os.ReadFile("/proc/self/status")
			_, rest, _ := strings.Cut(string(status), "VmRSS:")
			kilobytes, _ := strconv.Atoi(strings.Fields(rest)[0])
			fmt.Println(kilobytes/1000, time.Since(begin).Seconds())
		}
	}
}
