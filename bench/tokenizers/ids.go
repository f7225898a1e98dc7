// sugarme/tokenizer. Usage: ids TOKENIZER TEXTS
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/pretrained"
)

func main() {
	made, err := pretrained.FromFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.ReadFile(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal(file, &texts); err != nil {
		log.Fatal(err)
	}
	ids := make([][]int, len(texts))
	for place, text := range texts {
		ids[place] = encode(made, text)
	}
	if err := json.NewEncoder(os.Stdout).Encode(ids); err != nil {
		log.Fatal(err)
	}
}

// encode gives nothing where the library panics or has an error.
func encode(made *tokenizer.Tokenizer, text string) (ids []int) {
	defer func() { _ = recover() }()
	encoding, err := made.EncodeSingle(text, true)
	if err != nil {
		return nil
	}
	return append([]int{}, encoding.Ids...)
}
