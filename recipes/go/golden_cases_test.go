// The golden cases against your own service, in `go test`: Embed gives vectors, one a text, and an error. This file lies
// beside it, and has the name of its package.

package service

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// What `polybake inspect MODEL --extract FOLDER` writes, or `polybake build`.
const folder = "../fixtures/all-minilm-l6-v2/"

type tolerance struct {
	MaxAbs         float64 `json:"max_abs"`
	OneMinusCosine float64 `json:"one_minus_cosine"`
}

// Little-endian float32, inline or in a file beside.
type embeddings struct {
	Shape  [2]int
	Data   []byte
	Offset int
}

func TestGoldenCases(t *testing.T) {
	var fixture struct {
		Tolerances map[string]tolerance
		Cases      []struct {
			ID, Prompt string
			Texts      []string
			Embeddings embeddings
		}
	}
	if err := json.Unmarshal(read(t, "cases.json"), &fixture); err != nil {
		t.Fatal(err)
	}
	for _, golden := range fixture.Cases {
		t.Run(golden.ID, func(t *testing.T) {
			vectors, err := Embed(golden.Texts, golden.Prompt)
			if err != nil {
				t.Fatal(err)
			}
			expected := golden.Embeddings.rows(t)
			if len(vectors) != len(expected) {
				t.Fatalf("%d vectors, expected %d", len(vectors), len(expected))
			}
			for row := range expected {
				checkRow(t, row, expected[row], vectors[row], fixture.Tolerances["cpu"])
			}
		})
	}
}

func checkRow(t *testing.T, row int, golden, vector []float32, limits tolerance) {
	if len(vector) != len(golden) {
		t.Fatalf("row %d has %d elements, expected %d", row, len(vector), len(golden))
	}
	norm, length := math.Sqrt(dot(golden, golden)), math.Sqrt(dot(vector, vector))
	limit := limits.MaxAbs * max(1, norm) // float32 rounds relative to size
	for element := range golden {
		difference := math.Abs(float64(vector[element]) - float64(golden[element]))
		if !(difference <= limit) { // of NaN it is NaN
			t.Fatalf("row %d, element %d: difference %g exceeds %g; the vector is %g long, expected %g",
				row, element, difference, limit, length, norm)
		}
	}
	if angle := 1 - dot(golden, vector)/(norm*length); norm > limits.MaxAbs && !(angle <= limits.OneMinusCosine) {
		t.Fatalf("row %d: 1 - cosine %g exceeds %g", row, angle, limits.OneMinusCosine)
	}
}

func dot(one, other []float32) (sum float64) {
	for i := range one {
		sum += float64(one[i]) * float64(other[i])
	}
	return sum
}

func (e embeddings) rows(t *testing.T) [][]float32 {
	data, all := e.Data, make([]float32, e.Shape[0]*e.Shape[1])
	if data == nil {
		data = read(t, "vectors.f32")[e.Offset:]
	}
	if _, err := binary.Decode(data, binary.LittleEndian, all); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(all, e.Shape[1]))
}

func read(t *testing.T, name string) []byte {
	content, err := os.ReadFile(folder + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
