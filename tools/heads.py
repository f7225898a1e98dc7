"""Model files with damaged heads, and what every reader says of them: fixtures/heads.

``python tools/heads.py fixtures/heads`` writes one small file for each case, ``heads.json`` with
the words, the manifest that the clients under test are generated from, and files of weights.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx.helper
import onnx.numpy_helper
import onnx.parser

from polybake.base.files.atomic import replacing
from polybake.base.modelfile.container import ascii_json, sha256
from polybake.base.modelfile.fixture import TOLERANCES, Case, Fixture, MadeBy, encode_vectors
from polybake.base.modelfile.manifest import (
    Contract,
    Input,
    Manifest,
    Output,
    Provenance,
    fingerprint,
)
from polybake.base.modelfile.protobuf import entry, varint

_GRAPH = """
<ir_version: 8, opset_import: ["" : 18]>
heads (int64[batch, sequence] input_ids, int64[batch, sequence] attention_mask)
    => (float[batch, 2] sentence_embedding)
{
    tokens = Gather (rows, input_ids)
    mask = Cast <to = 1> (attention_mask)
    axis = Constant <value = int64[1] {2}> ()
    kept = Unsqueeze (mask, axis)
    weighed = Mul (tokens, kept)
    second = Constant <value = int64[1] {1}> ()
    sentence_embedding = ReduceSum <keepdims = 0> (weighed, second)
}
"""
#: Bytes of a file of weights before its payload.
_HEADING = 4096
_ROWS = np.array([[0, 0], [0.5, -0.25], [1, 0.125]], np.float32)
_TOKENIZER: dict[str, Any] = {
    "version": "1.0",
    "truncation": {
        "direction": "Right",
        "max_length": 4,
        "strategy": "LongestFirst",
        "stride": 0,
    },
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": None,
    "decoder": None,
    "model": {
        "type": "WordLevel",
        "vocab": {"[PAD]": 0, "[UNK]": 1, "river": 2},
        "unk_token": "[UNK]",
    },
}


@dataclass(frozen=True)
class HeadCase:
    """One file.

    Attributes:
        id: Names the file: ``ID.onnx``.
        why: The fault that the case finds in a reader.
        data: The file's bytes.
        message: What follows ``PATH: ``, with FOLDER for its folder; None where the file is whole.
        readers: ``all``, or ``clients`` where only who has a contract or a tokenizer notices.
        older: What clients of a model without weights beside it say, where that is something else;
            they know format 1 alone.
    """

    id: str
    why: str
    data: bytes
    message: str | None
    readers: str = "all"
    older: str | None = None


def tail(*, beside: bool = False) -> bytes:
    """The graph that every file ends with; its table may lie beside it."""
    model = onnx.parser.parse_model(_GRAPH)
    rows = onnx.numpy_helper.from_array(_ROWS, "rows")
    if beside:
        rows.ClearField("raw_data")
        rows.data_location = onnx.TensorProto.EXTERNAL
        place = {"location": "beside.weights", "offset": _HEADING, "length": _ROWS.nbytes}
        for key, value in place.items():
            rows.external_data.add(key=key, value=str(value))
    model.graph.initializer.append(rows)
    serialized: bytes = model.SerializeToString(deterministic=True)
    return serialized


def manifest(*, beside: bool = False) -> Manifest:
    """The manifest of the whole file; of format 2 where the table lies beside it."""
    contract = Contract(
        inputs=(
            Input(name="input_ids", feed="input_ids"),
            Input(name="attention_mask", feed="attention_mask"),
        ),
        output=Output(name="sentence_embedding", dimension=2),
        vocab_size=3,
        max_length=4,
        pad_id=0,
        prompts={"query": "river "},
    )
    return Manifest(
        format=2 if beside else 1,
        name="heads-of-files",
        contract=contract,
        steps=("sum",),
        encoder="table",
        opset=18,
        source=Provenance(identifier="heads"),
        generator="0.1.0",
        fingerprint=fingerprint(
            sha256(tail(beside=beside)),
            sha256(ascii_json(_TOKENIZER)),
            contract,
            sha256(_ROWS.tobytes()) if beside else None,
        ),
        verified="steps",
    )


def fixture(*, beside: bool = False) -> Fixture:
    """The golden case of the whole file."""
    case = Case(
        id="river",
        why="The sum of two rows is known without any runtime.",
        texts=("river bank",),
        input_ids=((2, 1),),
        embeddings=encode_vectors(_ROWS[[2, 1]].sum(axis=0, keepdims=True)),
    )
    return Fixture(
        fingerprint=manifest(beside=beside).fingerprint,
        made_by=MadeBy(kind="oracle", packages={"numpy": "1.26"}),
        tolerances=TOLERANCES,
        cases=(case,),
    )


def values(*, beside: bool = False, **changes: bytes) -> dict[str, bytes]:
    """The four values by key, with those of ``changes`` in the place of the whole ones."""
    found = {
        "manifest": ascii_json(manifest(beside=beside).model_dump(mode="json")),
        "tokenizer": ascii_json(_TOKENIZER),
        "fixture": ascii_json(fixture(beside=beside).model_dump(mode="json")),
    } | changes
    graph = tail(beside=beside)
    digests: dict[str, Any] = {"tail": sha256(graph), "tail_length": len(graph)}
    if beside:
        digests["weights"] = about_weights()
    digests |= {key: hashlib.sha256(value).hexdigest() for key, value in found.items()}
    return {"digests": ascii_json(digests), **found} | changes


def head(found: dict[str, bytes]) -> bytes:
    """The values as entries, in the order of the format."""
    order = ("manifest", "tokenizer", "fixture", "digests")
    return b"".join(entry(f"polybake.{key}", found[key]) for key in order if key in found)


def written(value: object) -> bytes:
    """A value that no reader of a head could tell from one that polybake wrote."""
    return ascii_json(value)


def cases() -> Iterator[HeadCase]:
    """Every case, the whole file first."""
    yield HeadCase("whole", "A reader that refuses this reads nothing.", _file(), None)
    yield from _whole_cases()
    yield from _cut_cases()
    yield from _wire_cases()
    yield from _key_cases()
    yield from _digest_cases()
    yield from _manifest_cases()
    yield from _client_cases()
    yield from _weights_cases()


def _file(**changes: bytes) -> bytes:
    return head(values(beside=False, **changes)) + tail()


def _whole_cases() -> Iterator[HeadCase]:
    whole = values()
    parts = {key: entry(f"polybake.{key}", value) for key, value in whole.items()}
    manifest_json = json.loads(whole["manifest"])
    foreign = entry("note", b"kept by another tool")
    long_length = parts["manifest"].replace(
        varint(len(parts["manifest"]) - 3), _wide(len(parts["manifest"]) - 3, 5), 1
    )
    for name, why, data in (
        ("foreign-entry", "Other tools' entries are none of ours.", foreign + _file()),
        ("foreign-twice", "Only our keys may not repeat.", foreign * 2 + _file()),
        ("foreign-key-not-unicode", "A key need not be text.", _bytes_key() + _file()),
        ("later-key", "A later version may add an entry.", entry("polybake.x", b"") + _file()),
        (
            "other-order",
            "The order of entries carries no meaning.",
            b"".join(parts[key] for key in ("digests", "fixture", "tokenizer", "manifest"))
            + tail(),
        ),
        (
            "later-manifest-key",
            "A later version may add a key.",
            _file(manifest=written(manifest_json | {"later": [1]})),
        ),
        (
            "length-in-five-bytes",
            "A varint need not be the shortest one.",
            long_length + _file()[len(parts["manifest"]) :],
        ),
    ):
        yield HeadCase(name, why, data, None)


def _cut_cases() -> Iterator[HeadCase]:
    data, whole = _file(), values()
    ends, position = {}, 0
    for key in ("manifest", "tokenizer", "fixture", "digests"):
        ends[key] = (position, position := position + len(entry(f"polybake.{key}", whole[key])))
    length = len(tail())
    no_manifest = "has no polybake.manifest; write the file with: polybake bake"
    yield HeadCase("empty", "No bytes are no entries.", b"", no_manifest)
    yield HeadCase("plain-onnx", "A model of another tool has no head.", tail(), no_manifest)
    yield HeadCase(
        "text", "Text is no protobuf, and has no entries either.", b"hello\n", no_manifest
    )
    for key, (begin, end) in ends.items():
        cut = data[: end - 1]
        yield HeadCase(f"cut-in-{key}", "An entry must be whole.", cut, _not_whole(begin))
    for before, key in (
        ("manifest", "tokenizer"),
        ("tokenizer", "fixture"),
        ("fixture", "digests"),
    ):
        message = f"has no polybake.{key}; write the file with: polybake bake"
        yield HeadCase(
            f"cut-behind-{before}", "Each part is needed.", data[: ends[before][1]], message
        )
    tag_only = data[:1]
    yield HeadCase("cut-in-length", "A length must end.", tag_only, _not_whole(0))
    for name, why, cut, found in (
        ("no-tail", "A head alone is no model.", data[:-length], 0),
        ("cut-in-tail", "A download that stopped has a whole head.", data[:-1], length - 1),
        ("byte-behind-tail", "What is appended is not ours.", data + b"\x00", length + 1),
        ("tail-twice", "Protobuf would join both.", data + tail(), 2 * length),
        (
            "entry-behind-tail",
            "A runtime would read the last one.",
            data + entry("polybake.manifest", b"{}"),
            length + len(entry("polybake.manifest", b"{}")),
        ),
    ):
        message = f"has {found} bytes after its head, expected {length}; copy the file again"
        yield HeadCase(name, why, cut, message)


def _wire_cases() -> Iterator[HeadCase]:
    data = _file()
    rest = head({key: value for key, value in values().items() if key != "manifest"}) + tail()
    value = values()["manifest"]
    key = b"\x0a" + varint(len("polybake.manifest")) + b"polybake.manifest"
    content = b"\x12" + varint(len(value)) + value
    for name, why, body in (
        ("value-before-key", "One order, one meaning.", content + key),
        ("key-alone", "An entry has a value.", key),
        ("value-alone", "An entry has a key.", content),
        ("no-content", "An entry has both.", b""),
        ("two-keys", "The last one would win in protobuf.", key + key + content),
        ("two-values", "The last one would win in protobuf.", key + content + content),
        ("more-in-entry", "Nothing stands behind the value.", key + content + b"\x1a\x00"),
        ("key-beyond-entry", "A key ends within its entry.", b"\x0a\x7fpolybake"),
        ("value-beyond-entry", "A value ends within its entry.", key + b"\x12\xff\x7f{}"),
        ("key-of-other-type", "A key is of wire type 2.", b"\x08\x01" + content),
    ):
        yield HeadCase(name, why, b"\x72" + varint(len(body)) + body + rest, _not_whole(0))
    for name, why, length in (
        ("length-beyond-file", "A length is compared before memory is taken.", varint(1 << 31)),
        ("length-of-32-gb", "It fits five bytes and no memory.", b"\xff\xff\xff\xff\x7f"),
        ("length-in-six-bytes", "Longer numbers differ between languages.", _wide(5, 6)),
        ("length-in-ten-bytes", "It would be negative in 64 bits.", b"\xff" * 9 + b"\x01"),
    ):
        yield HeadCase(name, why, b"\x72" + length + data[3:], _not_whole(0))
    second = len(entry("polybake.manifest", values()["manifest"]))
    broken = data[: second + 1] + b"\xff" * 6 + data[second + 1 :]
    yield HeadCase("second-length", "The place is that of the entry.", broken, _not_whole(second))
    message = "has no polybake.manifest; write the file with: polybake bake"
    for name, tag in (("other-wire-type", b"\x70"), ("field-0", b"\x02"), ("group", b"\x73")):
        yield HeadCase(name, "Reading stops at any other tag.", tag + data[1:], message)


def _key_cases() -> Iterator[HeadCase]:
    whole = values()
    for key in ("manifest", "tokenizer", "fixture", "digests"):
        others = {name: value for name, value in whole.items() if name != key}
        message = f"has no polybake.{key}; write the file with: polybake bake"
        yield HeadCase(f"no-{key}", "Each part is needed.", head(others) + tail(), message)
        message = f"polybake.{key} occurs twice; copy the original file again"
        again = entry(f"polybake.{key}", whole[key]) + _file()
        yield HeadCase(f"{key}-twice", "Which one counts would differ.", again, message)


def _digest_cases() -> Iterator[HeadCase]:
    digests = json.loads(values()["digests"])
    message = "polybake.digests is damaged; copy the file again"
    odd: dict[str, bytes] = {
        "no-json": b"{",
        "list": b"[]",
        "null": b"null",
        "byte-order-mark": b"\xef\xbb\xbf" + ascii_json(digests),
        "behind": ascii_json(digests) + b"x",
        "not-unicode": b'"\xff"',
    }
    for key in digests:
        odd[f"without-{key.replace('_', '-')}"] = ascii_json(
            {name: value for name, value in digests.items() if name != key}
        )
    for name, value in (("null", None), ("number", 7), ("list", [])):
        odd[f"tail-{name}"] = ascii_json(digests | {"tail": value})
    lengths = (("text", "9"), ("0", 0), ("negative", -1), ("fraction", 1.5), ("true", True))
    for name, length in lengths:
        odd[f"tail-length-{name}"] = ascii_json(digests | {"tail_length": length})
    for name, data in odd.items():
        yield HeadCase(
            f"digests-{name}", "Damage has words, no trace.", _file(digests=data), message
        )
    for key in ("manifest", "tokenizer", "fixture"):
        other = ascii_json(digests | {key: "0" * 64})
        message = f"polybake.{key} does not match its digest; copy the file again"
        yield HeadCase(f"{key}-changed", "Every part is hashed.", _file(digests=other), message)
        other = ascii_json(digests | {key: digests[key].upper()})
        yield HeadCase(f"{key}-digest-upper", "Hex is lower case.", _file(digests=other), message)
    length, expected = len(tail()), len(tail()) + 1
    other = ascii_json(digests | {"tail_length": expected})
    message = f"has {length} bytes after its head, expected {expected}; copy the file again"
    yield HeadCase("tail-length-other", "Sizes are compared.", _file(digests=other), message)


def _manifest_cases() -> Iterator[HeadCase]:
    whole = json.loads(values()["manifest"])
    message = "polybake.manifest is damaged; bake the model again"
    odd: dict[str, bytes] = {
        "no-json": b"manifest",
        "list": b"[]",
        "null": b"null",
        "nan": written(whole).replace(b'"opset":18', b'"opset":NaN'),
        "deep": b"[" * 3000 + b"]" * 3000,
        "not-ascii": written(whole).replace(b"heads-of", "h\u00e9ads".encode()),
        "not-unicode": written(whole).replace(b"heads-of", b"\xffeads-of"),
    }
    changes: dict[str, dict[str, Any]] = {
        "format-text": {"format": "1"},
        "format-0": {"format": 0},
        "format-fraction": {"format": 1.5},
        "format-true": {"format": True},
        "format-null": {"format": None},
        "name-number": {"name": 7},
        "fingerprint-null": {"fingerprint": None},
        "contract-list": {"contract": []},
        "contract-null": {"contract": None},
    }
    odd |= {name: written(whole | change) for name, change in changes.items()}
    for key in ("format", "name", "contract", "fingerprint"):
        odd[f"without-{key}"] = written({k: v for k, v in whole.items() if k != key})
    for name, data in odd.items():
        why = "A digest that holds does not make a manifest."
        yield HeadCase(f"manifest-{name}", why, _file(manifest=data), message)
    why = "The version that can read it is named before anything else is judged."
    newer = whole | {"format": 3, "contract": {}}
    for name, writer, change in (
        ("newer", "9.9", {"generator": "9.9"}),
        ("newer-by-nobody", "an unknown version", {}),
    ):
        del newer["generator"]
        newer |= change
        message = f"manifest format 3 is newer than 2; use polybake {writer}, which wrote it"
        older = message.replace("than 2", "than 1")
        data = _file(manifest=written(newer))
        yield HeadCase(name, why, data, message, older=older)


def _client_cases() -> Iterator[HeadCase]:
    whole = json.loads(values()["manifest"])
    regenerate = "regenerate the client with: polybake generate"

    def changed(**changes: object) -> bytes:
        return _file(manifest=written(whole | {"contract": whole["contract"] | changes}))

    without = {key: value for key, value in whole["contract"].items() if key != "pad_id"}
    swapped = whole["contract"]["inputs"][::-1]
    for name, data, difference in (
        ("max-length", changed(max_length=8), "max_length: expected 4, found 8"),
        ("vocab-size", changed(vocab_size=4), "vocab_size: expected 3, found 4"),
        ("text-for-number", changed(pad_id="0"), 'pad_id: expected 0, found "0"'),
        ("more", changed(later=1), "later: expected nothing, found 1"),
        (
            "less",
            _file(manifest=written(whole | {"contract": without})),
            "pad_id: expected 0, found nothing",
        ),
        (
            "inputs",
            changed(inputs=swapped),
            'inputs[0].name: expected "input_ids", found "attention_mask"',
        ),
        (
            "prompt",
            changed(prompts={"query": "caf\u00e9 "}),
            'prompts.query: expected "river ", found "caf\u00e9 "',
        ),
        (
            "other-prompt",
            changed(prompts={"passage": "river "}),
            'prompts.query: expected "river ", found nothing',
        ),
    ):
        message = f"contract field {difference}; {regenerate}"
        why = "A client runs only the model that it was written for."
        yield HeadCase(f"contract-{name}", why, data, message, "clients")
    why = "What the tokenizer's library says differs in each language."
    message = "polybake.tokenizer is damaged; bake the model again"
    data = _file(tokenizer=b'{"version":"1.0"}')
    yield HeadCase("tokenizer-not-one", why, data, message, "clients")


def _weights_cases() -> Iterator[HeadCase]:
    older = (
        f"manifest format 2 is newer than 1; use polybake {manifest().generator}, which wrote it"
    )
    for case in (*_sound_weights(), *_damaged_weights(), *_missing_weights()):
        yield replace(case, older=older)


def _sound_weights() -> Iterator[HeadCase]:
    changed = about_weights(file="changed.weights")
    for name, why, said in (
        ("beside", "Its weights lie beside it.", about_weights()),
        ("weights-later-key", "A later version may add a key.", about_weights(later=1)),
        ("weights-changed", "Whoever opens a file hashes no gigabytes.", changed),
    ):
        yield HeadCase(name, why, _beside(said), None)


def _damaged_weights() -> Iterator[HeadCase]:
    message = "polybake.digests is damaged; copy the file again"
    whole = about_weights()
    odd: dict[str, Any] = {"null": None, "text": "beside.weights", "list": [], "empty": {}}
    for key in whole:
        odd[f"without-{key}"] = {name: value for name, value in whole.items() if name != key}
    for key, name, value in (
        ("file", "number", 7),
        ("file", "empty", ""),
        ("file", "hidden", ".weights"),
        ("file", "above", "../beside.weights"),
        ("file", "below", "a/beside.weights"),
        ("file", "backslash", "a\\beside.weights"),
        ("file", "absolute", "/beside.weights"),
        ("file", "other-ending", "beside.onnx"),
        ("file", "line", "beside.weights\n"),
        ("file", "two-lines", "a\nbeside.weights"),
        ("file", "not-ascii", "besid\u00e9.weights"),
        ("file", "nul", "beside\0.weights"),
        ("file", "half-surrogate", "beside\ud800.weights"),
        ("file", "too-long", "b" * 248 + ".weights"),
        ("length", "text", str(whole["length"])),
        ("length", "0", 0),
        ("length", "of-no-heading", _HEADING - 1),
        ("length", "fraction", whole["length"] + 0.5),
        ("length", "true", True),
        ("sha256", "number", 7),
        ("sha256", "upper", whole["sha256"].upper()),
        ("sha256", "short", whole["sha256"][1:]),
        ("sha256", "line", whole["sha256"] + "\n"),
    ):
        odd[f"{key}-{name}"] = about_weights(**{key: value})
    why = "A name, a size and a digest, or no file is looked for."
    for name, said in odd.items():
        yield HeadCase(f"digests-weights-{name}", why, _beside(said), message)
    found = values(beside=True)
    digests = json.loads(found["digests"])
    del digests["weights"]
    data = head(found | {"digests": ascii_json(digests)}) + tail(beside=True)
    why = "Format 2 has weights beside it."
    yield HeadCase("digests-without-weights", why, data, message)


def _missing_weights() -> Iterator[HeadCase]:
    size = len(weights())
    remedy = "it holds the model's weights, put it beside the model"
    missing = f"cannot be read (No such file or directory); {remedy}"
    cut = f"has {size - 1} bytes, expected {size}; copy it again"
    other = "belongs to another model; copy the one that was baked with it"
    for file, why, message in (
        ("missing", "A model that was copied alone.", missing),
        ("cut", "A download that stopped has a whole heading.", cut),
        ("other", "Two models of one size must not be mixed up.", other),
        ("zeros", "A file that was allocated and never written.", other),
        ("later-version", "Another layout is another file.", other),
        ("more-in-heading", "Nothing stands behind the digest.", other),
    ):
        data = _beside(about_weights(file=f"{file}.weights"))
        yield HeadCase(f"weights-{file}", why, data, f"FOLDER/{file}.weights {message}")
    data = _beside(about_weights(length=size + 1))
    message = f"FOLDER/beside.weights has {size} bytes, expected {size + 1}; copy it again"
    yield HeadCase("weights-other-length", "Sizes are compared.", data, message)
    contract = json.loads(values(beside=True)["manifest"])["contract"] | {"max_length": 8}
    data = _beside(about_weights(file="missing.weights"), contract=contract)
    message = "contract field max_length: expected 4, found 8"
    yield HeadCase(
        "weights-missing-other-contract",
        "Whoever opens another model hears that first.",
        data,
        f"{message}; regenerate the client with: polybake generate",
        "clients",
    )


def weights() -> bytes:
    """The file of weights: its heading, then the rows of the table."""
    return _heading(sha256(_ROWS.tobytes())) + _ROWS.tobytes()


def weights_files() -> dict[str, bytes]:
    """Every file of weights by name; ``missing.weights`` is none."""
    whole, digest = weights(), sha256(_ROWS.tobytes())
    files = {
        "beside": whole,
        "changed": whole[:-1] + b"\xff",
        "cut": whole[:-1],
        "other": _heading("0" * 64) + whole[_HEADING:],
        "zeros": bytes(len(whole)),
        "later-version": whole.replace(b"weights 1", b"weights 2", 1),
        "more-in-heading": _heading(f"{digest}\nx") + whole[_HEADING:],
    }
    return {f"{name}.weights": data for name, data in files.items()}


def about_weights(**changes: object) -> dict[str, Any]:
    """What the digests say of the file of weights."""
    digest = sha256(_ROWS.tobytes())
    return {"file": "beside.weights", "length": len(weights()), "sha256": digest} | changes


def _heading(digest: str) -> bytes:
    return f"polybake weights 1\n{digest}\n".encode("ascii").ljust(_HEADING, b"\0")


def _beside(said: object, **changes: object) -> bytes:
    """A file whose digests say this of its weights, its manifest changed."""
    data = json.loads(values(beside=True)["manifest"]) | changes
    found = values(beside=True, manifest=written(data))
    digests = json.loads(found["digests"]) | {"weights": said}
    return head(found | {"digests": ascii_json(digests)}) + tail(beside=True)


def _not_whole(position: int) -> str:
    return f"is not a whole ONNX file (byte {position}); copy the file again"


def _wide(value: int, size: int) -> bytes:
    """A varint of so many bytes."""
    parts = [value >> 7 * index & 0x7F | 0x80 for index in range(size)]
    return bytes([*parts[:-1], parts[-1] & 0x7F])


def _bytes_key() -> bytes:
    return b"\x72\x07\x0a\x03k\xff\xfe\x12\x00"


def write(folder: Path) -> None:
    """Write all cases to ``folder``."""
    listed = []
    files = weights_files()
    for case in cases():
        files[f"{case.id}.onnx"] = case.data
        words = {"id": case.id, "why": case.why, "message": case.message, "readers": case.readers}
        listed.append(words | ({"older": case.older} if case.older else {}))
    for name, data in files.items():
        with replacing(folder / name) as file:
            file.write(data)
    parts = {"manifest.json": manifest().model_dump(mode="json"), "heads.json": {"heads": listed}}
    for name, value in parts.items():
        with replacing(folder / name) as file:
            file.write(json.dumps(value, indent=1).encode("ascii") + b"\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
