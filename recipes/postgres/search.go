// Print the nearest documents of a text: go run search.go MODEL DATABASE TEXT

package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	allminilml6v2 "all-minilm-l6-v2"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
	pgxvector "github.com/pgvector/pgvector-go/pgx"
)

const nearest = "SELECT id, embedding <=> $1 AS distance FROM documents ORDER BY distance LIMIT 5"

func main() {
	log.SetFlags(0)
	if err := search(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func search(ctx context.Context, model, database, text string) error {
	embedder, err := allminilml6v2.Open(model, nil)
	if err != nil {
		return err
	}
	defer embedder.Close()
	connection, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)

	stored := "no model"
	store := connection.QueryRow(ctx, "SELECT fingerprint FROM stores WHERE name = 'documents'")
	if err := store.Scan(&stored); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if stored != embedder.Fingerprint() {
		return fmt.Errorf("documents holds the vectors of %s, this model is %s: "+
			"open the model that wrote them, or write them anew", stored, embedder.Fingerprint())
	}
	if err := pgxvector.RegisterTypes(ctx, connection); err != nil {
		return err
	}
	vector, err := embedder.EmbedQuery(ctx, text)
	if err != nil {
		return err
	}
	rows, err := connection.Query(ctx, nearest, pgvector.NewVector(vector))
	if err != nil {
		return err
	}
	var (
		id       int64
		distance float64
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &distance}, func() error {
		_, err := fmt.Printf("{\"id\": %d, \"distance\": %g}\n", id, distance)
		return err
	})
	return err
}
