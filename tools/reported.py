"""Vectors as other tools' users reported them, made the way that those tools made them.

``python tools/reported.py MINILM_FOLDER BAKED.onnx`` writes, into ``fixtures/reported``, tiny
random models, and for each report in ``reports.json`` what its tool gave of ``texts.jsonl``. It
needs sentence-transformers and PyTorch, and shares no code with what is to explain the vectors; of
the baked file of MiniLM it takes the graph that ONNX Runtime quantises.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reported_models import write_models

FOLDER = Path(__file__).parents[1] / "fixtures" / "reported"

Floats = NDArray[np.float32]

_PACKAGES = ("sentence-transformers", "transformers", "torch", "tokenizers", "onnxruntime", "numpy")


@dataclass(frozen=True)
class Tool:
    """How a tool tokenises and runs a model; as it stands, it does what it should.

    Attributes:
        folder: Of the model, as sentence-transformers saves it.
        limit: Tokens of a text, special tokens included.
        pad_side: Where shorter rows of a batch are padded.
        masked: Whether the encoder gets the attention mask.
        layer: The hidden state that is taken; -1 is the last one.
        tokenizer: What is changed in tokenizer.json.
        baked: The same model as an ONNX file that gives vectors, for what quantises one.
    """

    folder: Path
    limit: int
    pad_side: str = "right"
    masked: bool = True
    layer: int = -1
    tokenizer: tuple[tuple[str, Any], ...] = ()
    baked: Path = Path()

    def rows(self, texts: list[str], *, special: bool = True) -> list[list[int]]:
        """The token ids of each text."""
        from tokenizers import Tokenizer

        data = json.loads((self.folder / "tokenizer.json").read_text("utf-8"))
        data |= {"padding": None, "truncation": None, **dict(self.tokenizer)}
        tokenizer = Tokenizer.from_str(json.dumps(data))
        if special:
            tokenizer.enable_truncation(self.limit)
        encoded = tokenizer.encode_batch(texts, add_special_tokens=special)
        return [each.ids for each in encoded]

    def batch(self, rows: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Ids and attention mask of one batch, ``[rows, tokens]``; 0 is the id of padding."""
        width = max(map(len, rows))
        ids, mask = np.zeros((2, len(rows), width), np.int64)
        for row, given in enumerate(rows):
            first = width - len(given) if self.pad_side == "left" else 0
            kept = slice(first, first + len(given))
            ids[row, kept], mask[row, kept] = given, 1
        return ids, mask

    def hidden(self, texts: list[str]) -> tuple[Floats, NDArray[np.int64]]:
        """Hidden states ``[texts, tokens, hidden]`` of one batch, and its attention mask."""
        return self.hidden_of(self.rows(texts))

    def hidden_of(self, rows: list[list[int]]) -> tuple[Floats, NDArray[np.int64]]:
        """The same, of token ids."""
        import torch

        ids, mask = self.batch(rows)
        given = mask if self.masked else np.ones_like(mask)
        with torch.inference_mode():
            states = _body(self.folder)(
                input_ids=torch.from_numpy(ids),
                attention_mask=torch.from_numpy(given),
                output_hidden_states=True,
            ).hidden_states
        return states[self.layer].numpy(), mask


@cache
def _body(folder: Path) -> Any:
    from transformers import AutoModel

    return AutoModel.from_pretrained(folder).eval()


def mean(hidden: Floats, mask: NDArray[np.int64]) -> Floats:
    """The mean over the tokens that the mask keeps."""
    return np.asarray((hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True), np.float32)


def unit(x: Floats) -> Floats:
    """Each row at length 1."""
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True), np.float32)


def sentence(tool: Tool, texts: list[str]) -> Floats:
    """What sentence-transformers makes of MiniLM's hidden states."""
    return unit(mean(*tool.hidden(texts)))


def cls(tool: Tool, texts: list[str]) -> Floats:
    """The hidden state at the first place of each row, whatever stands there."""
    return unit(tool.hidden(texts)[0][:, 0])


def mean_over_padding(tool: Tool, texts: list[str]) -> Floats:
    """``last_hidden_state.mean(dim=1)``."""
    return unit(tool.hidden(texts)[0].mean(axis=1))


def not_normalised(tool: Tool, texts: list[str]) -> Floats:
    """What is pooled, at its own length."""
    return mean(*tool.hidden(texts))


def last_of_left_padded(tool: Tool, texts: list[str]) -> Floats:
    """The place of the last token as if padding stood on the right: ``sum(mask) - 1``."""
    hidden, mask = replace(tool, pad_side="left").hidden(texts)
    return unit(hidden[np.arange(len(texts)), mask.sum(1) - 1])


def shuffled(tool: Tool, texts: list[str]) -> Floats:
    """Each vector is some text's, but of a batch that was answered in another order."""
    own = sentence(tool, texts)
    return own[np.random.default_rng(6187).permutation(len(texts))]


def averaged_parts(tool: Tool, texts: list[str]) -> Floats:
    """Parts of 510 tokens, embedded by themselves and averaged by their numbers of tokens."""
    found = []
    first, last = tool.rows([""])[0]
    for row in tool.rows(texts, special=False):
        parts = [row[start : start + 510] for start in range(0, len(row), 510)]
        vectors = unit(mean(*tool.hidden_of([[first, *part, last] for part in parts])))
        found.append(np.average(vectors, axis=0, weights=[len(part) for part in parts]))
    return unit(np.array(found, np.float32))


def calibrated_on_themselves(tool: Tool, texts: list[str]) -> Floats:
    """int8 between the least and the largest of the very vectors that are rounded."""
    from sentence_transformers.quantization import quantize_embeddings

    return np.asarray(quantize_embeddings(sentence(tool, texts), "int8"), np.float32)


def dynamic_int8(tool: Tool, texts: list[str], *, together: bool) -> Floats:
    """ONNX Runtime's dynamic quantisation, with what transformers.js's converter asks for."""
    import onnxruntime as ort

    session = ort.InferenceSession(_quantized(tool.baked), providers=["CPUExecutionProvider"])
    wanted = {one.name for one in session.get_inputs()}
    found = []
    for rows in [tool.rows(texts)] if together else [[row] for row in tool.rows(texts)]:
        ids, mask = tool.batch(rows)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        found.append(session.run(None, {name: given[name] for name in wanted})[0])
    return np.concatenate(found)


@cache
def _quantized(model: Path) -> bytes:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as scratch:
        small = Path(scratch, "small.onnx")
        quantize_dynamic(
            model, small, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
        )
        return small.read_bytes()


def _bert_normalizer(**changes: object) -> tuple[tuple[str, Any], ...]:
    settings = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
    return (("normalizer", {"type": "BertNormalizer", "lowercase": True, **settings, **changes}),)


#: BERT's vocabulary by words between spaces, none of which is split or lower-cased.
_WORDS_ONLY = (("normalizer", None), ("pre_tokenizer", {"type": "WhitespaceSplit"}))


def _without_symbols(text: str) -> str:
    return "".join(" " if unicodedata.category(one)[0] == "S" else one for one in text)


#: How each tool made its vectors, by the report's name.
TOOLS: dict[str, Callable[[Tool, list[str]], Floats]] = {
    "fastembed-cls": cls,
    "ollama-length": not_normalised,
    "tei-limit": lambda tool, texts: sentence(replace(tool, limit=512), texts),
    "quackformers-limit": lambda tool, texts: sentence(replace(tool, limit=128), texts),
    "transformers-padding": mean_over_padding,
    "reprover-mask": lambda tool, texts: sentence(replace(tool, masked=False), texts),
    "transformers-js-int8": lambda tool, texts: dynamic_int8(tool, texts, together=False),
    "fastembed-rs-batch": lambda tool, texts: dynamic_int8(tool, texts, together=True),
    "localembeddings-accents": lambda tool, texts: sentence(
        replace(tool, tokenizer=_bert_normalizer(strip_accents=False)), texts
    ),
    "vllm-case": lambda tool, texts: sentence(
        replace(tool, tokenizer=_bert_normalizer(lowercase=False)), texts
    ),
    "lm-supply-words": lambda tool, texts: sentence(replace(tool, tokenizer=_WORDS_ONLY), texts),
    "ml-net-symbols": lambda tool, texts: sentence(tool, [_without_symbols(one) for one in texts]),
    "ml-net-lines": lambda tool, texts: sentence(tool, [re.sub(r"[\n\r\t]", "", x) for x in texts]),
    "ollama-order": shuffled,
    "langchain4j-parts": averaged_parts,
    "bert-as-service-layer": lambda tool, texts: sentence(replace(tool, layer=-2), texts),
    "sentence-transformers-int8": calibrated_on_themselves,
    "fastembed-prompt": sentence,
    "infinity-dimensions": lambda tool, texts: sentence(tool, texts)[:, :5],
    "mlx-mean": sentence,
    "sentence-transformers-left": lambda tool, texts: cls(replace(tool, pad_side="left"), texts),
    "tei-dense": cls,
    "transformers-js-dense": sentence,
    "ml-commons-last": last_of_left_padded,
}


def write(minilm: Path, baked: Path, folder: Path = FOLDER) -> None:
    """Write the tiny models, the vectors of every report, and the versions that made them."""
    write_models(folder)
    lines = (folder / "texts.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    data = json.loads((folder / "reports.json").read_text("utf-8"))
    for report in data["reports"]:
        name, model = report["name"], report["model"]
        own = model == "minilm"
        tool = Tool(minilm, 256, baked=baked) if own else Tool(folder / model, 48)
        np.save(folder / f"{name}.npy", TOOLS[name](tool, texts).astype(np.float32))
    data["made_by"] = {package: version(package) for package in _PACKAGES}
    text = json.dumps(data, indent=2, ensure_ascii=False)
    (folder / "reports.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
