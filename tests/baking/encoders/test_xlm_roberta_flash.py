"""jina-embeddings-v3 as it was published against its formula: each adapter, and none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.jina_v3_numpy import CONFIG, TASKS, forward, merged, weights
from models.formulas.rotary_numpy import IDS, MASK, SIZES, Floats
from polybake.baking.encoders.xlm_roberta_flash import XlmRobertaFlashConfig
from polybake.baking.sources import open_source
from polybake.errors import InputError
from polybake.runtime.session import open_session

TABLE = "roberta.embeddings.word_embeddings.parametrizations.weight"
LAYER = "roberta.encoder.layers.1.mlp.fc1.parametrizations.weight"


def embedded(folder: Path, scratch: Path, adapter: str | None) -> Floats:
    reference = open_source(folder, adapter=adapter).encoder.reference(scratch)
    fed = {"input_ids": IDS, "attention_mask": MASK}
    found: Floats = open_session(reference.path).run([reference.output], fed)[0]
    return found


@pytest.mark.parametrize("task", [None, *TASKS])
def test_matches_numpy(task: str | None, tmp_path: Path) -> None:
    """Tables and linear layers take the products of the chosen adapter alone."""
    folder = write_bert(tmp_path / "model", CONFIG, weights())
    exact = {name: array.astype(np.float64) for name, array in weights().items()}
    for row, ids, mask in zip(embedded(folder, tmp_path, task), IDS, MASK, strict=True):
        expected = forward(merged(exact, task), ids[mask == 1])
        np.testing.assert_allclose(row[mask == 1], expected, atol=3e-6 * np.abs(expected).max())


def test_theta_is_10000_where_none_is_given() -> None:
    """The default is that of the code beside the weights, and not transformers'."""
    config = XlmRobertaFlashConfig.model_validate(SIZES | {"position_embedding_type": "rotary"})
    assert config.theta == 10_000.0
    assert config.adapters == {}


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("hidden_act", "gelu_new", "hidden_act: "),
        ("emb_pooler", "cls", "emb_pooler: "),
        ("truncate_dim", 256, "truncate_dim: "),
        ("rope_parameters", {"rope_theta": 3.0}, "rope_parameters: "),
        ("task_instructions", {"separation": ""}, "task_instructions has other names than lora_"),
        ("lora_rank", 0, "lora_rank: "),
        ("use_reg_tokens", True, "unknown key use_reg_tokens"),
        ("auto_map", {"AutoModel": "modeling.OwnModel"}, "unknown key auto_map"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", CONFIG | {key: value}, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)


def test_an_adapter_that_is_unknown(tmp_path: Path) -> None:
    """The message lists the known ones, of which there may be none."""
    folder = write_bert(tmp_path / "model", CONFIG, weights())
    known = r'known are: "retrieval.query", "retrieval.passage", "separation"$'
    with pytest.raises(InputError, match=rf'config\.json: has no adapter "query"; {known}'):
        open_source(folder, adapter="query")
    without = CONFIG | {"lora_adaptations": None, "task_instructions": None}
    bare = {key: value for key, value in without.items() if value is not None}
    folder = write_bert(tmp_path / "bare", bare, weights())
    with pytest.raises(InputError, match=r"known are: none, so leave it out"):
        open_source(folder, adapter="query")


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({f"{LAYER}.0.lora_A": None}, r"encoder\.layers\.1\.mlp\.fc1 lacks weights of adapters"),
        ({f"{TABLE}.original": None}, r"holds no adapters"),
        (
            {f"{LAYER}.0.lora_A": np.ones((3, 3, 24), np.float32)},
            r"do not fit: .*lora_A \[3, 3, 24\]",
        ),
        (
            {f"{LAYER}.0.lora_B": np.ones((2, 28, 2), np.float32)},
            r"do not fit: .*lora_B \[2, 28, 2\]",
        ),
        ({"roberta.lora.weight": np.ones(3, np.float32)}, r"unexpected lora\.weight"),
    ],
)
def test_weights_that_do_not_fit(
    changes: dict[str, Floats | None], shown: str, tmp_path: Path
) -> None:
    """A part of an adapter that is missing, or of another size, is named."""
    changed = {name: array for name, array in (weights() | changes).items() if array is not None}
    folder = write_bert(tmp_path / "model", CONFIG, changed)
    with pytest.raises(InputError, match=shown):
        open_source(folder, adapter="separation").encoder.place()
