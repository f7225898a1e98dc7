"""The recipe for LangChainGo."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.clients.programs import MODEL, call, go, write_project
from support.clients.rendered import run

pytestmark = pytest.mark.go

#: Each line is whether a vector is that of the model's own prompt, or what another file is told.
PROGRAM = """\
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"

	allminilml6v2 "all-minilm-l6-v2"
	"project/search"
)

func main() {
	ctx := context.Background()
	model, err := allminilml6v2.Open(os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	query, _ := model.EmbedQuery(ctx, "a b")
	documents, _ := model.EmbedDocuments(ctx, []string{"a b"})
	embedder, err := search.NewEmbedder(model, model.Fingerprint())
	if err != nil {
		log.Fatal(err)
	}
	asked, _ := embedder.EmbedQuery(ctx, "a b")
	stored, _ := embedder.EmbedDocuments(ctx, []string{"a b"})
	fmt.Println(slices.Equal(query, asked), slices.Equal(documents[0], stored[0]))
	fmt.Println(slices.Equal(asked, stored[0]))
	_, err = search.NewEmbedder(model, "0123")
	fmt.Println(err)
}
"""


def test_it_gives_each_text_its_prompt(tmp_path: Path) -> None:
    """Queries and documents differ, and another file is refused."""
    project = write_project(tmp_path, "go")
    recipe = project / "recipes/go/langchaingo_embedder.go"
    assert run("gofmt", "-s", "-l", recipe, cwd=project) == ""
    (project / "search").mkdir()
    shutil.copy(recipe, project / "search")
    shutil.rmtree(project / "recipes")
    (project / "main.go").write_text(PROGRAM)
    done = call(project, *go(project, "main.go"), MODEL)
    assert done.stdout.splitlines() == [
        "true true",
        "false",
        "the vectors are of the model file 0123; open that, or embed them again",
    ], done.stderr
