"""The recipes of Node: clean, typed, and run with the real packages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import polybake
from support.clients.programs import MODEL, node, write_project
from support.clients.rendered import run
from support.processes.fresh_home import run_silently

pytestmark = [pytest.mark.node, pytest.mark.slow]

TEXTS = ["the water", "a river boat", "xyz"]
QUERY = "the river: water."

#: LangChain's own store in memory embeds the texts as documents and what it is asked as a query.
PROGRAM = """
import { FakeVectorStore } from "@langchain/core/utils/testing";
import { Embedder } from "all-minilm-l6-v2";
import { ModelFileEmbeddings } from "./recipes/node/langchain_embeddings.js";

const embedder = await Embedder.open("all-minilm-l6-v2.onnx");
const embeddings = new ModelFileEmbeddings(embedder);
const texts: string[] = TEXTS;
const store = await FakeVectorStore.fromTexts(texts, texts.map(() => ({})), embeddings);
const vectors: number[][] = await embeddings.embedDocuments(texts);
const query: number[] = await embeddings.embedQuery("QUERY");
const [[found]] = await store.similaritySearchWithScore("QUERY", 1);
console.log(JSON.stringify({ vectors, query, found: found.pageContent }));
// @ts-expect-error a path is no embedder
() => new ModelFileEmbeddings("all-minilm-l6-v2.onnx");
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of Node, LangChain, node-postgres, and the program above."""
    folder = write_project(tmp_path_factory.mktemp("project"), "node")
    node(folder, "", "@langchain/core", "pg", "@types/pg", "pgvector")
    program = PROGRAM.replace("TEXTS", json.dumps(TEXTS)).replace("QUERY", QUERY)
    (folder / "program.ts").write_text(program, encoding="utf-8")
    return folder


def test_they_are_clean(project: Path) -> None:
    """Biome has nothing to change or to say, with the settings of the clients."""
    command = ("node_modules/.bin/biome", "ci", "--error-on-warnings", "--colors=off")
    folders = ("recipes/node", "recipes/postgres")
    printed = run(*command, "--config-path=clients/node", *folders, cwd=project)
    assert re.search(r"Checked 4 files in \S+ No fixes applied", printed), printed


@pytest.fixture(scope="module")
def program(project: Path) -> Path:
    """The program above in JavaScript; TypeScript also checks what recipes say of their types."""
    tsc = project / "node_modules/.bin/tsc"
    strict = ("--strict", "--allowJs", "--checkJs", "--target", "es2022", "--module", "nodenext")
    options = (*strict, "--types", "node", "--skipLibCheck", "--rootDir", ".", "--outDir", "built")
    run(tsc, *options, "program.ts", "recipes/postgres/search.js", cwd=project)
    return project / "built/program.js"


def test_langchain_tells_queries_from_documents(
    project: Path, program: Path, tmp_path: Path
) -> None:
    """Every element is that of the model's own prompt, and nothing leaves the machine."""
    found = json.loads(run_silently(tmp_path / "home", "node", program, cwd=project))
    embedder = polybake.Embedder(project / MODEL)
    documents = embedder.embed(TEXTS, prompt="document")
    query = embedder.embed([QUERY], prompt="query")
    assert np.abs(np.array(found["vectors"]) - documents).max() < 1e-6
    assert np.abs(np.array([found["query"]]) - query).max() < 1e-6
    assert np.abs(embedder.embed([QUERY], prompt="document") - query).max() > 1e-2
    assert found["found"] == TEXTS[int(np.argmax(documents @ query[0]))]
