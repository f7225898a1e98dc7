"""ONNX Runtime's own format, which is mapped into memory instead of read and parsed.

Source: ONNX Runtime documentation, "ORT model format", and
onnxruntime_session_options_config_keys.h.
"""

import shutil
from pathlib import Path

import onnxruntime as ort

from polybake.base.files.atomic import replacing
from polybake.base.files.scratch import Scratch
from polybake.base.modelfile.container import LARGEST_FILE, check_digest, read_head
from polybake.base.modelfile.fixture import Case
from polybake.base.modelfile.slack import Embeddings
from polybake.errors import InputError
from polybake.runtime.runner import Runner
from polybake.runtime.tokenizer import BakedTokenizer
from polybake.shipping.export.golden_cases import reproduced

_SUFFIX = ".ort"  # ONNX Runtime recognises the format by it
_CPU = ["CPUExecutionProvider"]
_ERRORS_ONLY = 3


def export_ort(model: Path, output: Path) -> float:
    """Write a model file in ONNX Runtime's format, with the same metadata.

    Args:
        model: A baked model file.
        output: The ``.ort`` file.

    Returns:
        The largest difference of an element to the golden vectors, from the mapped file.

    Raises:
        CheckFailed: The exported model gives other vectors.
        InputError: It is not a model file, gives several outputs, or the suffix is wrong.
    """
    if output.suffix != _SUFFIX:
        raise InputError(f"{output}: ONNX Runtime knows its format by the suffix {_SUFFIX}; add it")
    head = read_head(model)
    check_digest(head)
    if head.size > LARGEST_FILE:
        raise InputError(
            f"{output}: would have {head.size} bytes, and ONNX Runtime's format holds at most "
            f"{LARGEST_FILE}; use {model} itself"
        )
    contract = head.manifest.contract
    if contract.further_outputs:
        raise InputError(
            f"{model}: gives a text several outputs, and an export is compared by one; run the "
            "file itself"
        )
    with Scratch() as folder:
        made = Path(folder) / f"model{_SUFFIX}"
        _write(model, made)
        runner = Runner(_mapped(made), contract, BakedTokenizer.of(head.tokenizer, contract))

        def vectors(case: Case) -> Embeddings:
            return runner.vectors(case.rows(contract.vocab_size), case.prompt)

        largest = reproduced(head, vectors)
        with made.open("rb") as source, replacing(output) as file:
            shutil.copyfileobj(source, file, 1 << 20)
    return largest


def _write(model: Path, made: Path) -> None:
    """Write the model, optimised only in ways that suit every CPU.

    ONNX Runtime runs "extended" fusions anyway, but cannot make them in this format; the next
    level lays data out for the CPU of the exporting machine.
    """
    options = ort.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(made)
    options.add_session_config_entry("session.save_model_format", "ORT")
    ort.InferenceSession(str(model), options, providers=_CPU)


def _mapped(made: Path) -> ort.InferenceSession:
    """A session whose weights stay in the file; a runtime that cannot do so reads them."""
    options = ort.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.add_session_config_entry("session.use_memory_mapped_ort_model", "1")
    options.add_session_config_entry("session.use_ort_model_bytes_for_initializers", "1")
    return ort.InferenceSession(str(made), options, providers=_CPU)
