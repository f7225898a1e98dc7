"""JinaBERT against an independent forward pass in NumPy, written from its own code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.jina_bert_numpy import CONFIG, forward, forward_code, weights
from models.formulas.rotary_numpy import IDS, MASK, assert_matches
from polybake.baking.sources import open_source
from polybake.errors import InputError
from polybake.runtime.session import open_session

FORMS = {"": forward, "code": forward_code}


@pytest.mark.parametrize("form", FORMS)
def test_matches_numpy(form: str, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's; the weights tell the forms apart."""
    assert_matches(CONFIG, weights(code=bool(form)), FORMS[form], tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_a_pair_has_types(form: str, tmp_path: Path) -> None:
    """The second text of a pair is of type 1, and a head brings the prefix of BERT."""
    drawn = weights(code=bool(form))
    named = {f"bert.{name}": array for name, array in drawn.items()}
    encoder = open_source(write_bert(tmp_path / "model", CONFIG, named)).encoder.for_pairs(
        lambda: True
    )
    reference = encoder.reference(tmp_path)
    kinds = np.array([[0] * 4 + [1] * 4])
    fed = {"input_ids": IDS[:1], "attention_mask": MASK[:1], "token_type_ids": kinds}
    (found,) = open_session(reference.path).run([reference.output], fed)[0]
    exact = {name: array.astype(np.float64) for name, array in drawn.items()}
    expected = FORMS[form](exact, IDS[0], kinds[0])
    np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())


def test_a_gate_of_relu(tmp_path: Path) -> None:
    """``reglu`` is another function of the gate, whatever ``hidden_act`` says."""
    folders = [
        write_bert(tmp_path / name, CONFIG | changes, weights())
        for name, changes in (
            ("geglu", {}),
            ("relu", {"hidden_act": "relu"}),
            ("reglu", {"feed_forward_type": "reglu"}),
        )
    ]
    geglu, relu, reglu = (
        open_source(folder).encoder.reference(folder).path.read_bytes() for folder in folders
    )
    assert geglu == relu != reglu
    assert b"Relu" in reglu


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("feed_forward_type", "original", "feed_forward_type: .*'original'"),
        ("emb_pooler", "cls", "emb_pooler: .*'cls'"),
        ("alibi_scaling", 4, "unknown key alibi_scaling = 4"),
        ("auto_map", {"AutoModel": "modeling.OtherModel"}, "unknown key auto_map"),
        ("position_embedding_type", "rotary", "position_embedding_type: .*'rotary'"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", CONFIG | {key: value}, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)
