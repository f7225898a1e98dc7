"""Which rewrites of tokenizers give the ids of the Rust library: wrong texts of each, by kind.

Usage: python bench/tokenizers/ports.py MODEL.onnx [DRAWN]

The texts are those of the golden cases of all-MiniLM-L6-v2's file, and those of so many calls as
``verify --random`` draws them. A text is wrong where an id is, or where the port fails at it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing

from polybake.base.modelfile.container import read_head
from polybake.runtime.embedder import Embedder
from polybake.study.bench.workload import workloads
from polybake.study.random.search import draw
from polybake.study.random.texts import drawn_cases

HERE = Path(__file__).parent
SPECIAL = ["[UNK]", "[CLS]", "[SEP]"]
CLASSES = "target/classes:target/packages/*"

#: The ports, and the kinds that one knows, where it does not know all.
PORTS: dict[str, tuple[list[str], set[str]]] = {
    "@huggingface/tokenizers 0.2.0 (JavaScript)": (["node", "ids.js"], set()),
    "sugarme/tokenizer 0.3.0 (Go)": (["build/ports"], set()),
    "DJL api 0.38.0, `BertFullTokenizer` (Java)": (
        ["java", "-cp", CLASSES, "Ids", "djl"],
        {"WordPiece"},
    ),
    "OpenNLP 2.5.7, `WordpieceTokenizer` (Java)": (
        ["java", "-cp", CLASSES, "Ids", "opennlp"],
        {"WordPiece"},
    ),
}

PREPARE = (
    ["npm", "install", "--silent", "--no-audit", "--no-fund"],
    ["go", "build", "-o", "build/", "."],
    ["mvn", "--quiet", "--batch-mode", "process-classes"],
)


def trained(made: Tokenizer, trainer: trainers.Trainer, texts: list[str]) -> Tokenizer:
    """The tokenizer with a vocabulary of these texts, and special tokens at both ends."""
    made.train_from_iterator(texts, trainer)
    tokens = [(token, made.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    made.post_processor = TemplateProcessing("[CLS] $A [SEP]", None, tokens)
    return made


def kinds(model: Path) -> Iterator[tuple[str, Tokenizer]]:
    """One of each kind; all but the first are trained on texts of the benchmarks."""
    wordpiece = Tokenizer.from_str(read_head(model).tokenizer)
    wordpiece.no_truncation()
    yield "WordPiece", wordpiece
    texts = [text for workload in workloads() for text in workload.texts]
    alphabet = pre_tokenizers.ByteLevel.alphabet()

    bytes_alone = Tokenizer(models.BPE())
    bytes_alone.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=len(alphabet) + 3, special_tokens=SPECIAL, initial_alphabet=alphabet
    )
    yield "every byte a token", trained(bytes_alone, trainer, texts)

    byte_level = Tokenizer(models.BPE())
    byte_level.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=SPECIAL, initial_alphabet=alphabet
    )
    yield "byte-level BPE", trained(byte_level, trainer, texts)

    pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    fallback = Tokenizer(models.BPE(unk_token="[UNK]", fuse_unk=True, byte_fallback=True))
    fallback.normalizer = normalizers.Sequence(
        [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    )
    fallback.decoder = decoders.ByteFallback()
    trainer = trainers.BpeTrainer(vocab_size=2000, special_tokens=[*SPECIAL, *pieces])
    yield "BPE, bytes to fall back on", trained(fallback, trainer, texts)

    for name, norms in (
        ("Unigram, NFKC", [normalizers.NFKC()]),
        ("Unigram, Nmt and NFKC", [normalizers.Nmt(), normalizers.NFKC()]),
    ):
        unigram = Tokenizer(models.Unigram())
        unigram.normalizer = normalizers.Sequence(norms)
        unigram.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=2000, special_tokens=SPECIAL, unk_token="[UNK]"
        )
        yield name, trained(unigram, trainer, texts)


def hostile(model: Path, drawn: int) -> list[str]:
    """The golden texts, then drawn ones, each once."""
    golden = [text for case in read_head(model).fixture.cases for text in case.texts]
    embedder = Embedder(model)
    cases = drawn_cases(embedder.manifest.contract, embedder.runner.tokenizer)
    found = [text for case in draw(cases, drawn, 0) for text in case.texts]
    return list(dict.fromkeys(golden + found))


def wrong(command: list[str], tokenizer: Path, texts: Path, expected: list[list[int]]) -> str:
    """How many texts of a port have other ids, or what it did instead of an answer."""
    ended = subprocess.run(
        [*command, tokenizer, texts], cwd=HERE, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        return "does not load"
    found = json.loads(ended.stdout)
    assert len(found) == len(expected)
    return f"{sum(map(list.__ne__, [one or [] for one in found], expected)):,}"


def main(model: Path, drawn: int) -> None:
    """Print the table."""
    for command in PREPARE:
        subprocess.run(command, cwd=HERE, check=True)
    texts = hostile(model, drawn)
    cells: dict[str, list[str]] = {port: [] for port in PORTS}
    with tempfile.TemporaryDirectory() as folder:
        file, tokenizer = Path(folder) / "texts.json", Path(folder) / "tokenizer.json"
        file.write_text(json.dumps(texts), encoding="utf-8")
        names = []
        for name, made in kinds(model):
            names.append(name)
            tokenizer.write_text(made.to_str(), encoding="utf-8")
            expected = [one.ids for one in made.encode_batch(texts)]
            for port, (command, known) in PORTS.items():
                unknown = known and name not in known
                cells[port].append("" if unknown else wrong(command, tokenizer, file, expected))
    print(f"{len(texts):,} texts\n\n| | {' | '.join(names)} |\n{'|---' * (len(names) + 1)}|")
    for port, row in cells.items():
        print(f"| {port} | {' | '.join(row)} |")


if __name__ == "__main__":
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    main(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if sys.argv[2:] else 3000)
