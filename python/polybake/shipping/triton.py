"""A model repository for NVIDIA's Triton Inference Server.

Source: Triton's model_config.proto and "Model Repository"; python_backend and onnxruntime_backend.
"""

import json
import runpy
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from onnxruntime import InferenceSession

from polybake import __version__
from polybake.base.files.atomic import creating
from polybake.base.files.templates import template_environment, templates_folder
from polybake.base.modelfile.container import FileHead, check_digest, read_head
from polybake.base.modelfile.fixture import Case, decode_slack, decode_vectors
from polybake.base.modelfile.manifest import Contract
from polybake.base.modelfile.tolerance import Embeddings, compare_vectors, largest_difference
from polybake.errors import CheckFailed, InputError
from polybake.runtime.session import open_session, run

#: The tasks that a server runs as a whole: a text is one row, and a row one vector.
_TASKS = ("embed", "classify")

#: The most texts of a request, and of requests that run together; it bounds attention's memory.
_MAX_BATCH_SIZE = 64

_TYPES = {"float32": "TYPE_FP32", "int8": "TYPE_INT8", "uint8": "TYPE_UINT8"}
_ROWS, _LABELS = "text_rows.py", "labels.txt"


def export_triton(model: Path, repository: Path) -> float:
    """Write a repository of three models: texts to ids, ids to vectors, and both together.

    Return the largest difference of an element to the golden vectors, with the repository's own
    tokenising and its own graph.
    """
    head = read_head(model)
    check_digest(head)
    contract, name = head.manifest.contract, head.manifest.name
    if contract.task not in _TASKS:
        raise InputError(
            f"{model}: is for the task {contract.task!r}, and Triton runs whole: "
            f"{', '.join(_TASKS)}; use polybake serve, or a client: polybake generate"
        )
    with creating(repository) as folder:
        names = {part: f"{name}_{part}" for part in ("tokenize", "encoder")}
        places = {part: folder / own / "1" for part, own in names.items()}
        for path in (*places.values(), folder / name / "1"):
            path.mkdir(parents=True)
        # Triton needs the folder, and tools that copy to object stores leave out empty folders.
        (folder / name / "1" / ".keep").touch()
        graph, tokenize = places["encoder"] / "model.onnx", places["tokenize"]
        shutil.copyfile(model, graph)
        if head.weights_path is not None:
            shutil.copyfile(head.weights_path, graph.with_name(head.weights_path.name))
        session = open_session(graph)
        _write_tokenize(head, tokenize)
        _write_configs(folder, names | {"ensemble": name}, head, _dims(session, contract))
        return reproduced(head, _vectors(tokenize, session, contract))


def _write_tokenize(head: FileHead, folder: Path) -> None:
    for file in (_ROWS, "model.py"):
        shutil.copyfile(_templates() / file, folder / file)
    contract = json.dumps(head.manifest.contract.model_dump(mode="json"), indent=2)
    (folder / "contract.json").write_text(f"{contract}\n", encoding="ascii", newline="\n")
    (folder / "tokenizer.json").write_text(head.tokenizer, encoding="ascii", newline="\n")


def _write_configs(
    folder: Path, names: Mapping[str, str], head: FileHead, output_dims: list[int]
) -> None:
    contract = head.manifest.contract
    # A prompt's number belongs to a whole batch, for which Triton's batches have no place.
    batched = all(item.feed != "prompt_value" for item in contract.inputs)
    labels = cast(list[str], contract.settings.get("labels", []))
    environment = template_environment(_templates())  # the filter "text" encodes
    environment.filters["text"] = text_literal
    for part, name in names.items():
        config = environment.get_template(f"{part}.pbtxt.jinja").render(
            names=names,
            generator=__version__,
            fingerprint=head.manifest.fingerprint,
            max_batch_size=_MAX_BATCH_SIZE if batched else 0,
            texts=["TEXT", "PROMPT"] if contract.prompts else ["TEXT"],
            text_dims="[ 1 ]" if batched else "[ -1 ]",
            inputs=[
                {
                    "name": item.name,
                    "tensor": f"tokenized/{item.name}",
                    "dims": [1] if item.feed == "prompt_value" else [-1] * (1 if batched else 2),
                }
                for item in contract.inputs
            ],
            output=contract.output.name,
            output_type=_TYPES[contract.output.dtype],
            output_dims=output_dims[1:] if batched else output_dims,
            labels=labels,
        )
        (folder / name / "config.pbtxt").write_text(config, encoding="ascii", newline="\n")
    if labels:
        lines = "".join(f"{' '.join(label.split())}\n" for label in labels)
        (folder / names["encoder"] / _LABELS).write_text(lines, encoding="utf-8", newline="\n")


def _vectors(
    tokenize: Path, session: InferenceSession, contract: Contract
) -> Callable[[Case], Embeddings]:
    """Return a function that runs cases with the repository's own tokenising and graph."""
    rows = runpy.run_path(str(tokenize / _ROWS))["TextRows"](tokenize)

    def vectors(case: Case) -> Embeddings:
        fed = rows.arrays(list(case.texts), case.prompt)
        return run(session, [contract.output.name], fed)[0]

    return vectors


def _dims(session: InferenceSession, contract: Contract) -> list[int]:
    """The output's dims as its graph has them, which Triton compares; -1 is any."""
    (output,) = (value for value in session.get_outputs() if value.name == contract.output.name)
    return [dim if isinstance(dim, int) else -1 for dim in output.shape]


def _templates() -> Path:
    return templates_folder() / "triton"


def reproduced(head: FileHead, vectors: Callable[[Case], Embeddings]) -> float:
    """Compare what ``vectors`` gives for each golden case; return the largest difference."""
    largest = 0.0
    for case in head.fixture.cases:
        golden, slack = decode_vectors(case.embeddings), decode_slack(case.embeddings)
        array = vectors(case)
        difference = compare_vectors(golden, array, head.fixture.tolerances["cpu"], slack)
        if difference:
            raise CheckFailed(
                f"{head.path}: exported, case {case.id} gives other vectors: {difference.message}; "
                "nothing was written, run the file itself"
            )
        largest = max(largest, largest_difference(golden, array, slack))
    return largest


def text_literal(value: str) -> str:
    """Return a string in quotes; bytes that are not plain ASCII are written in octal.

    Source: Protocol Buffers, "Text Format Language", string literals.
    """
    plain = bytes(range(0x20, 0x7F)).translate(None, b'"\\')
    escaped = (chr(byte) if byte in plain else f"\\{byte:03o}" for byte in value.encode())
    return f'"{"".join(escaped)}"'
