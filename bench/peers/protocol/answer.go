// Package protocol is how a runner in Go answers the driver; answer.py says how.
package protocol

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"log"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

type request struct {
	Texts   []string
	Calls   int
	Vectors string
}

// Answer embeds what is asked for, until the driver closes the pipe.
func Answer(embed func(texts []string) ([][]float32, error), packages ...string) {
	versions := map[string]string{}
	for _, name := range packages {
		versions[name] = version(name)
	}
	say(map[string]any{"versions": versions})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var asked request
		check(json.Unmarshal(lines.Bytes(), &asked))
		var vectors [][]float32
		seconds := make([]float64, asked.Calls)
		for call := range seconds {
			begin := time.Now()
			found, err := embed(asked.Texts)
			seconds[call] = time.Since(begin).Seconds()
			check(err)
			vectors = found
		}
		if asked.Vectors != "" {
			check(write(asked.Vectors, vectors))
		}
		say(map[string]any{"seconds": seconds})
	}
	check(lines.Err())
}

// version is a module's, which is known by the end of its name, or that of the library onnxruntime.
func version(name string) (found string) {
	if name == "onnxruntime" {
		_, found, _ = strings.Cut(os.Getenv("ONNXRUNTIME_LIBRARY_PATH"), ".so.")
		return found
	}
	built, _ := debug.ReadBuildInfo()
	for _, module := range built.Deps {
		if strings.HasSuffix(module.Path, "/"+name) {
			found = strings.TrimPrefix(module.Version, "v")
		}
	}
	return found
}

func write(file string, vectors [][]float32) error {
	var bytes []byte
	for _, vector := range vectors {
		bytes, _ = binary.Append(bytes, binary.LittleEndian, vector)
	}
	return os.WriteFile(file, bytes, 0o600)
}

func say(message any) { check(json.NewEncoder(os.Stdout).Encode(message)) }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
