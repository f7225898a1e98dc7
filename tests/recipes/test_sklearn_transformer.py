"""The recipe for scikit-learn, in its pipelines."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.files.prompted import DOCUMENTS, NEAREST, QUERY

pytest.importorskip("sklearn", reason="scikit-learn is missing: nox -s recipes")
pytest.importorskip("pandas", reason="pandas is missing: nox -s recipes")

#: Checks of scikit-learn that speak of an estimator, not of numbers that it would be given.
CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize(
    ("input_type", "method"),
    [("query", "embed_queries"), ("document", "embed_documents"), (None, "embed")],
)
@pytest.mark.parametrize("kind", ["list", "array", "objects", "series"])
def test_it_gives_the_vectors_of_the_client(
    model: Path, embedder: Any, input_type: str | None, method: str, kind: str
) -> None:
    """Of texts in whatever scikit-learn's users have them."""
    import pandas as pd
    from sklearn_transformer import BakedTransformer

    kinds = {"list": list, "array": np.array, "objects": np.array, "series": pd.Series}
    texts = kinds[kind](DOCUMENTS, **({"dtype": object} if kind == "objects" else {}))
    vectors = BakedTransformer(str(model), input_type).fit_transform(texts)
    assert np.array_equal(vectors, getattr(embedder, method)(DOCUMENTS))
    assert vectors.dtype == np.float32


def test_neighbours_are_those_of_the_query(model: Path, similarities: dict[str, float]) -> None:
    """One transformer for what is searched, one for what is asked."""
    from sklearn.neighbors import NearestNeighbors
    from sklearn_transformer import BakedTransformer

    documents = BakedTransformer(str(model), "document").fit_transform(DOCUMENTS)
    query = BakedTransformer(str(model), "query").fit_transform([QUERY])
    nearest = NearestNeighbors(n_neighbors=5, metric="cosine").fit(documents)
    distances, found = nearest.kneighbors(query)
    assert [DOCUMENTS[number] for number in found[0]] == list(similarities)
    assert 1 - distances[0] == pytest.approx(list(similarities.values()), abs=1e-6)


def test_it_is_part_of_a_pipeline(model: Path) -> None:
    """With a column of a table, searched for the best of its parameters, and pickled."""
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn_transformer import BakedTransformer

    columns = ColumnTransformer([("texts", BakedTransformer(str(model)), "text")])
    pipeline = make_pipeline(columns, LogisticRegression())
    table = pd.DataFrame({"text": DOCUMENTS * 2})
    wet = [text != "a boat sails" for text in table["text"]]
    grid = {"columntransformer__texts__input_type": [None, "query", "document"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(table, wet)
    again = pickle.loads(pickle.dumps(search.best_estimator_))  # noqa: S301
    assert np.array_equal(again.predict_proba(table), search.predict_proba(table))


def test_columns_have_names(model: Path, embedder: Any) -> None:
    """In the tables that scikit-learn makes where it is told to."""
    from sklearn_transformer import BakedTransformer

    transformer = BakedTransformer(str(model)).set_output(transform="pandas")
    table = transformer.fit_transform(DOCUMENTS)
    assert list(table.columns) == [f"bakedtransformer{number}" for number in range(12)]
    assert np.array_equal(table, embedder.embed(DOCUMENTS))


def test_what_is_saved_refuses_another_file(model: Path, other: Path, tmp_path: Path) -> None:
    """A classifier learnt from vectors of one fingerprint, and would guess at others."""
    from sklearn_transformer import BakedTransformer

    path = tmp_path / "model.onnx"
    shutil.copy(model, path)
    saved = pickle.dumps(BakedTransformer(str(path)).fit(DOCUMENTS))
    fingerprint = pickle.loads(saved).fingerprint_  # noqa: S301
    shutil.copy(other, path)
    with pytest.raises(ValueError, match=rf"gives vectors of \w+, expected {fingerprint}; open"):
        pickle.loads(saved).transform([NEAREST])  # noqa: S301


def test_wrong_input_is_told(model: Path) -> None:
    """What is no text, no list, no role, or comes too early."""
    from sklearn.exceptions import NotFittedError
    from sklearn_transformer import BakedTransformer

    with pytest.raises(ValueError, match="input_type is 'passage'; expected 'query', 'document'"):
        BakedTransformer(str(model), "passage").fit(DOCUMENTS)
    with pytest.raises(NotFittedError):
        BakedTransformer(str(model)).transform(DOCUMENTS)
    transformer = BakedTransformer(str(model)).fit(DOCUMENTS)
    with pytest.raises(TypeError, match=r"texts\[1\] is a float; expected a text"):
        transformer.transform(["a", float("nan")])
    with pytest.raises(TypeError, match=r"texts\[0\] is a ndarray; expected a text"):
        transformer.transform(np.array([["a"], ["b"]]))
    with pytest.raises(TypeError, match="texts is a str; expected a list of texts"):
        transformer.transform("a text")


@pytest.mark.parametrize("check", CHECKS)
def test_scikit_learn_has_no_complaint(model: Path, check: str) -> None:
    """Of its own checks, those that need no numbers; it leaves out all for one that takes texts."""
    from sklearn.utils import estimator_checks
    from sklearn_transformer import BakedTransformer

    getattr(estimator_checks, check)("BakedTransformer", BakedTransformer(str(model)))
