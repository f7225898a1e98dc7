// An embedder in LangChainGo: search.NewEmbedder(embedder, fingerprint), for any of its vector stores.

package search

import (
	"context"
	"fmt"

	allminilml6v2 "all-minilm-l6-v2"

	"github.com/tmc/langchaingo/embeddings"
)

// Embedder gives documents the model's prompt for documents, and queries that for queries.
type Embedder struct {
	model *allminilml6v2.Embedder
}

var _ embeddings.Embedder = (*Embedder)(nil)

// NewEmbedder takes an opened model, which stays yours to close, and the fingerprint of the vectors that are
// stored, which is empty where there are none yet.
func NewEmbedder(model *allminilml6v2.Embedder, fingerprint string) (*Embedder, error) {
	if fingerprint != "" && fingerprint != model.Fingerprint() {
		return nil, fmt.Errorf("the vectors are of the model file %s; open that, or embed them again", fingerprint)
	}
	return &Embedder{model}, nil
}

// EmbedDocuments gives a vector for each text.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return e.model.EmbedDocuments(ctx, texts)
}

// EmbedQuery gives the vector of a question.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return e.model.EmbedQuery(ctx, text)
}
