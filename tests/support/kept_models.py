"""Bake models of every kind for `kinds`: ``python -m support.kept_models FOLDER WORKERS``.

They come from the record of the oracle (`support.oracle.record`), so this needs no PyTorch. The
folder gets a folder for each contract, whose models share their clients, and in it one for each
model: ``model.onnx`` and ``golden``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Case, Fixture, MadeBy
from polybake.base.modelfile.fixture_folder import write_fixture
from polybake.base.modelfile.tolerance import TOLERANCES
from support.oracle.agreement import UNKNOWN, bake
from support.oracle.record import RECORD, cases_of, entries, make
from support.oracle.support_table import family

ROOT = Path(__file__).parents[2]


def chosen() -> Iterator[tuple[Path, str]]:
    """The first entry of each kind in each file of the record, of those with a row of their own."""
    for path in sorted((ROOT / RECORD).glob("*.json.xz")):
        first: dict[str, str] = {}
        for name, entry in entries(path).items():
            if entry["kind"] != "tokenizer" and not entry["kind"].startswith("test_"):
                first.setdefault(family(entry["kind"]), name)
        yield from ((path, name) for name in first.values())


def make_model(folder: Path, path: Path, name: str) -> Path:
    """Bake an entry into a folder of its own, beside its golden cases.

    Returns:
        Where `main` keeps it: below the contract's folder, by what clients see of it.
    """
    folder.mkdir()
    entry = entries(path)[name]
    baking = make(entry, folder / "source")
    model = folder / "model.onnx"
    bake(baking.source, model, folder=baking.folder, **baking.settings)
    shutil.rmtree(folder / "source")
    head = read_head(model)
    own = {case.id: case for case in head.fixture.cases}
    cases = (golden(case, own.get(case.id)) for case in cases_of(entry))
    fixture = Fixture(
        fingerprint=head.manifest.fingerprint,
        made_by=MadeBy(kind="oracle", packages=entry["versions"]),
        tolerances=TOLERANCES,
        cases=tuple(filter(None, cases)),
    )
    write_fixture(fixture, folder / "golden")
    contract = head.manifest.contract
    kind = family(entry["kind"]) if contract.task == "embed" else contract.task
    stem = path.name.removeprefix("test_").removesuffix(".json.xz")
    feeds = (one.feed for one in contract.inputs)
    named = "-".join([kind, stem, *feeds, contract.output.dtype])
    return Path(f"{head.manifest.name}-{contract.digest[:8]}", named)


def golden(case: Case, own: Case | None) -> Case | None:
    """What clients must give: the library's, or where it is not recorded the core's own."""
    if case.embeddings == UNKNOWN:
        return own
    answer = case.answer or (own.answer if own else None)
    return case.model_copy(update={"answer": answer})


def main(kinds: Path, workers: int) -> None:
    """Keep, of models that are alike, the first one.

    Alike are models of one test file that have the same task, inputs and dtype, and that are of one
    architecture where they embed.
    """
    shutil.rmtree(kinds, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made, Pool(workers) as pool:
        todo = [(Path(made, str(number)), *one) for number, one in enumerate(chosen())]
        seen = set()
        for (folder, *_), kept in zip(
            todo, pool.starmap(make_model, todo, chunksize=1), strict=True
        ):
            if kept.name not in seen:
                seen.add(kept.name)
                shutil.copytree(folder, kinds / kept)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
