"""A fixture on disk: ``cases.json``, with ``vectors.f32`` beside it for many floats."""

import math
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from polybake.base.files.atomic import replacing
from polybake.base.files.validation import first_fault
from polybake.base.modelfile.fixture import Case, Fixture, Vectors, decode_vectors, encode_vectors
from polybake.errors import InputError

CASES = "cases.json"
VECTORS = "vectors.f32"

#: Bytes of all vectors together above which floats leave the JSON.
_LARGEST_INLINE = 1_000_000


def write_fixture(fixture: Fixture, folder: Path) -> None:
    """Write ``fixture``, whose vectors are inline, to ``folder``."""
    arrays = [decode_vectors(output) for case in fixture.cases for output in case.vectors]
    sidecar = folder / VECTORS
    floats = all(array.dtype == np.float32 for array in arrays)
    if floats and sum(array.nbytes for array in arrays) > _LARGEST_INLINE:
        offset, cases = 0, []
        for case in fixture.cases:
            vectors = []
            for output in case.vectors:
                vectors.append(Vectors(shape=output.shape, offset=offset))
                offset += 4 * math.prod(output.shape)
            cases.append(case.with_vectors(vectors))
        fixture = fixture.model_copy(update={"cases": tuple(cases)})
        with replacing(sidecar) as file:
            for array in arrays:
                file.write(array.astype("<f4").tobytes())
    else:
        sidecar.unlink(missing_ok=True)
    text = fixture.model_dump_json(indent=1, exclude_none=True, ensure_ascii=True)
    with replacing(folder / CASES) as file:
        file.write(text.encode("ascii") + b"\n")


def read_fixture(folder: Path) -> Fixture:
    """Read the fixture in ``folder``; its vectors come back inline."""
    path = folder / CASES
    try:
        fixture = Fixture.model_validate_json(path.read_bytes())
        if any(output.offset is not None for case in fixture.cases for output in case.vectors):
            sidecar = (folder / VECTORS).read_bytes()
            cases = tuple(_inlined(case, sidecar) for case in fixture.cases)
            fixture = fixture.model_copy(update={"cases": cases})
        for case in fixture.cases:
            for output in case.vectors:
                decode_vectors(output)
    except OSError as error:
        raise InputError(
            f"{error.filename}: cannot be read ({error.strerror}); write it with: polybake fixtures"
        ) from error
    except ValidationError as error:
        raise InputError(
            f"{path}: {first_fault(error)}; write it again with: polybake fixtures"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: {error}; write it again with: polybake fixtures") from error
    return fixture


def _inlined(case: Case, sidecar: bytes) -> Case:
    return case.with_vectors([_inline(case.id, output, sidecar) for output in case.vectors])


def _inline(case: str, vectors: Vectors, sidecar: bytes) -> Vectors:
    if vectors.offset is None:
        return vectors
    rows, dimension = vectors.shape
    if vectors.offset < 0 or vectors.offset + 4 * rows * dimension > len(sidecar):
        raise ValueError(f"case {case}: its vectors lie beyond the end of {VECTORS}")
    array = np.frombuffer(sidecar, "<f4", rows * dimension, vectors.offset)
    return encode_vectors(array.reshape(rows, dimension))
