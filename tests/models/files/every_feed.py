"""A tiny model file whose graph takes every feed of the contract, for client tests.

The embedding is the masked mean of token, type and position rows, plus the token in the first
column (the last one of a model padded on the left), scaled by the prompt value. No transformer does
that, but each input and the side of the padding move every element of the result, which is then
quantized where that is asked for.
"""

from __future__ import annotations

import json
import string
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from models.files.quantized_feed import DIMENSION, QUANTIZATIONS, slack
from polybake.base.modelfile import container as modelfile
from polybake.base.modelfile.fixture import Case, Fixture, MadeBy, encode_vectors
from polybake.base.modelfile.manifest import (
    Contract,
    Input,
    Manifest,
    Output,
    Provenance,
    fingerprint,
)
from polybake.base.modelfile.tolerance import TOLERANCES

MAX_LENGTH = 16
PROMPTS = {"query": "query: ", "document": "passage: "}
PROMPT_VALUES = {"": 0, "query": 1, "document": 2}
TEXTS = (
    ("plain", None, ("Hello, world",)),
    ("empty", None, ("",)),
    ("batch", None, ("a", "two words", "")),
    ("query", "query", ("where is it?", "x")),
    ("long", None, ("one two three four five six seven eight nine ten",)),
)

_GRAPH = """
<ir_version: 8, opset_import: ["" : 18]>
every_feed (
    int64[batch, sequence] ids, int64[batch, sequence] mask, int64[batch, sequence] types,
    int64[batch, sequence] positions, int64[1] prompt, int64[1] route
) => (OUTPUT[batch, 7] vector) {
    one = Constant <value = int64[1] {1}> ()
    two = Constant <value = int64[1] {2}> ()
    tokens = Gather (token_rows, ids)
    kinds = Gather (type_rows, types)
    places = Gather (position_rows, positions)
    sum1 = Add (tokens, kinds)
    sum2 = Add (sum1, places)
    mask3 = Unsqueeze (mask, two)
    weight = Cast <to = 1> (mask3)
    kept = Mul (sum2, weight)
    total = ReduceSum <keepdims = 0> (kept, one)
    count = ReduceSum <keepdims = 0> (weight, one)
    least = Constant <value = float[1] {1e-9}> ()
    divisor = Max (count, least)
    mean = Div (total, divisor)
    value = Cast <to = 1> (prompt)
    unit = Constant <value = float[1] {1.0}> ()
    sum4 = Add (value, unit)
    chosen = Cast <to = 1> (route)
    factor = Mul (sum4, chosen)
    edge = Constant <value = int64 {EDGE}> ()
    outer = Gather <axis = 1> (kept, edge)
    sum3 = Add (mean, outer)
    float_vector = Mul (sum3, factor)
    QUANTIZE
}
"""


def tokenizer() -> Tokenizer:
    """WordPiece over single characters: small, and every text has an exact expectation."""
    characters = string.ascii_lowercase + string.digits + string.punctuation
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary += list(characters) + [f"##{char}" for char in string.ascii_lowercase]
    made = Tokenizer(
        models.WordPiece({token: i for i, token in enumerate(vocabulary)}, unk_token="[UNK]")
    )
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.enable_truncation(MAX_LENGTH)
    return made


def rows(dimensions: int) -> dict[str, np.ndarray]:
    """The seeded tables of the graph, float32."""
    random = np.random.default_rng(7)
    sizes = {
        "token_rows": tokenizer().get_vocab_size(),
        "type_rows": 2,
        "position_rows": MAX_LENGTH,
    }
    return {
        name: random.normal(0, 0.2, (size, dimensions)).astype(np.float32)
        for name, size in sizes.items()
    }


def expected(
    ids: list[int], prompt_value: int, pad_side: str, dimensions: int = DIMENSION
) -> np.ndarray:
    """The embedding of one row of ids by NumPy, float32 ``[dimensions]``."""
    tables = rows(dimensions)
    places = np.arange(len(ids))
    tokens = tables["token_rows"][ids] + tables["type_rows"][0] + tables["position_rows"][places]
    outer = tokens[0] if pad_side == "right" else tokens[-1]
    return ((tokens.mean(axis=0) + outer) * (1 + prompt_value) * route_value(prompt_value)).astype(
        np.float32
    )


def route_value(prompt_value: int) -> int:
    """What a second input is fed for the prompt: another number than the first."""
    return prompt_value % 2 + 1


def write_every_feed_model(
    path: Path,
    *,
    pad_side: str = "right",
    name: str = "every-feed",
    prompts: dict[str, str] = PROMPTS,
    default_prompt: str | None = None,
    precision: str = "float32",
) -> Path:
    """Write the model file, with golden cases made by ``expected``."""
    values = PROMPT_VALUES | {key: PROMPT_VALUES.get(key, 3) for key in prompts}
    quantization = QUANTIZATIONS[precision]
    graph = _GRAPH.replace("EDGE", "0" if pad_side == "right" else "-1")
    graph = graph.replace("OUTPUT", quantization.dtype.replace("float32", "float"))
    model = onnx.parser.parse_model(graph.replace("QUANTIZE", quantization.operators))
    for table, array in rows(quantization.dimensions).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, table))
    onnx.checker.check_model(model, full_check=True)
    tail = path.with_suffix(".tail")
    tail.write_bytes(model.SerializeToString(deterministic=True))
    feeds = {
        "ids": "input_ids",
        "mask": "attention_mask",
        "types": "token_type_ids",
        "positions": "position_ids",
        "prompt": "prompt_value",
        "route": "prompt_value",
    }
    by_input = {"prompt": values, "route": {key: route_value(one) for key, one in values.items()}}
    contract = Contract(
        inputs=tuple(
            Input(name=key, feed=feed, values=by_input.get(key, {})) for key, feed in feeds.items()
        ),
        output=Output(
            name="vector",
            dtype=quantization.dtype,
            dimension=DIMENSION,
            packed_bits=quantization.packed_bits,
        ),
        vocab_size=tokenizer().get_vocab_size(),
        max_length=MAX_LENGTH,
        pad_id=0,
        pad_side=pad_side,
        prompts=prompts,
        default_prompt=default_prompt,
    )
    words = tokenizer()
    text = words.to_str()
    tail_digest = modelfile.sha256(tail.read_bytes())
    identity = fingerprint(
        tail_digest, modelfile.sha256(modelfile.ascii_json(json.loads(text))), contract
    )
    manifest = Manifest(
        name=name,
        contract=contract,
        similarity="dot",
        steps=("mean",),
        encoder="tables",
        opset=18,
        source=Provenance(identifier="every-feed"),
        generator="0.1.0",
        fingerprint=identity,
        verified="steps",
    )
    cases = []
    cases_with_prompts = [(f"prompt-{i}", key, ("a b",)) for i, key in enumerate(prompts)]
    for case, prompt, texts in [*TEXTS, *cases_with_prompts]:
        if prompt is not None and prompt not in prompts:
            continue
        used = prompt or default_prompt
        prefix = prompts[used] if used is not None else ""
        ids = [words.encode(prefix + text).ids for text in texts]
        value, dimensions = values[used or ""], quantization.dimensions
        vectors = np.stack([expected(row, value, pad_side, dimensions) for row in ids])
        cases.append(
            Case(
                id=case,
                why="each feed moves every element",
                prompt=prompt,
                texts=texts,
                input_ids=ids,
                embeddings=encode_vectors(
                    quantization.numpy(vectors), slack(vectors, quantization)
                ),
            )
        )
    fixture = Fixture(
        fingerprint=identity,
        made_by=MadeBy(kind="oracle", packages={"numpy": np.__version__}),
        tolerances=TOLERANCES,
        cases=tuple(cases),
    )
    modelfile.write(path, tail, manifest, text, fixture)
    tail.unlink()
    return path
