"""Steps of polybake.toml that name a corpus: a build fits their arrays to it.

``step = "subtract", fit = "corpus.txt"`` is mean debiasing in one line: what stands before the step
is baked, the corpus is embedded with it, and the step takes the mean of its vectors. The arrays lie
in ``fitted/``, to be committed; they are fitted again only where something of that changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from polybake.baking.bake import BakeReport, Progress, quiet
from polybake.baking.bake_config import bake_config
from polybake.baking.recipe.fit import ARRAYS, SIZED, Fit, read_fit
from polybake.base.files.fit_record import Record, read_record
from polybake.base.files.inputs import asked
from polybake.base.files.scratch import Scratch
from polybake.base.modelfile.manifest import Manifest
from polybake.bulk.fit.corpus import Corpus
from polybake.bulk.fit.fit import Wanted, fit
from polybake.config import Config, FixturesTable
from polybake.errors import InputError

#: The folder of the arrays, beside polybake.toml.
FOLDER = "fitted"


def fit_steps(config: Config, progress: Progress = quiet) -> Config:
    """Fit what is to be fitted, and return the settings with the paths of its arrays."""
    steps: list[dict[str, Any]] = []
    for number, spec in enumerate(config.steps or ()):
        where = f"steps[{number}]"
        if "fit" in spec:
            steps.append(_fitted(config, where, spec, steps, progress))
        else:
            _check_model(config, where, spec, steps, progress)
            steps.append(dict(spec))
    return config if config.steps is None else config.model_copy(update={"steps": tuple(steps)})


def _fitted(
    config: Config,
    where: str,
    spec: Mapping[str, Any],
    before: Sequence[dict[str, Any]],
    progress: Progress,
) -> dict[str, Any]:
    step, plan = str(spec.get("step")), read_fit(where, spec)
    same = sum(entry.get("step") == step for entry in before)
    name = f"{step}-{same + 1}" if same else step
    folder = config.folder / FOLDER / name
    corpus = Corpus(asked(config.folder / plan.texts), plan.column)
    with _baked_before(config, where, before, progress) as report:
        model, manifest = report.path, report.manifest
        prompt = plan.prompt or manifest.contract.default_prompt
        record = read_record(folder)
        if record is None or not _holds(record, folder, step, plan, manifest, prompt, corpus):
            console = Console(stderr=True)
            fit(model, corpus, _wanted(step, plan), folder, prompt=plan.prompt, console=console)
    rest = {key: value for key, value in spec.items() if key != "fit"}
    arrays = {key: f"{FOLDER}/{name}/{file}" for key, file in ARRAYS[step].items()}
    return rest | arrays


def _check_model(
    config: Config,
    where: str,
    spec: Mapping[str, Any],
    before: Sequence[dict[str, Any]],
    progress: Progress,
) -> None:
    """Refuse an array whose record names another model than the one before the step."""
    for key in ARRAYS.get(str(spec.get("step")), ()):
        array = config.folder / str(spec.get(key))
        record = read_record(array.parent)
        if record is None or array.name not in record.arrays:
            continue
        with _baked_before(config, where, before, progress) as report:
            now = report.manifest.fingerprint
        if record.fingerprint != now:
            raise InputError(
                f"{where}.{key}: {array} was fitted to vectors of {record.model} with fingerprint "
                f"{record.fingerprint[:12]}, and what stands before the step has {now[:12]}: other "
                "weights, tokenizer or settings; fit it again with polybake fit, or in each build "
                'with fit = "CORPUS"; to use it all the same, remove its fit.json'
            )
        return


def _wanted(step: str, plan: Fit) -> Wanted:
    size = plan.size
    return {
        "pca": Wanted(pca=size),
        "whiten": Wanted(whiten=size),
        "remove_components": Wanted(remove_components=size),
        "quantize": Wanted(ranges=True),
    }.get(step, Wanted())


@contextmanager
def _baked_before(
    config: Config, where: str, before: Sequence[dict[str, Any]], progress: Progress
) -> Iterator[BakeReport]:
    """The model that ends before a step, while it lies in a folder of its own."""
    progress(f"baking what stands before {where}")
    with Scratch() as scratch:
        output = Path(scratch, "before.onnx")
        model = config.model.model_copy(update={"output": output, "expose": ()})
        prefix = config.model_copy(update={"model": model, "fixtures": FixturesTable()})
        yield bake_config(prefix, before)


def _holds(
    record: Record,
    folder: Path,
    step: str,
    plan: Fit,
    manifest: Manifest,
    prompt: str | None,
    corpus: Corpus,
) -> bool:
    """Whether the arrays are those that a fit would give now."""
    for name in record.arrays:
        if record.changed(folder, name):
            raise InputError(
                f"{folder / name}: was changed since it was fitted; to keep it, name it in "
                "polybake.toml in place of fit, and move it; to fit again, remove the folder"
            )
    sized = SIZED.get(step)
    return (
        record.fingerprint == manifest.fingerprint
        and record.prompt == prompt
        and record.corpus == corpus.sha256()
        and record.arrays.keys() >= {*ARRAYS[step].values()}
        and all((folder / name).is_file() for name in record.arrays)
        and (sized is None or record.arrays[sized[0]][sized[1]] == plan.size)
    )
