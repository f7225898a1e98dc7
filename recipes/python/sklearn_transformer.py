"""A model file as a transformer of scikit-learn."""

from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np
from all_minilm_l6_v2 import Embedder
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted


class BakedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turn texts into vectors, within a pipeline or before one.

    Neither ``fit`` nor ``transform`` tells queries from documents, so the transformer itself is for
    one of them. A saved pipeline opens the file again, and refuses one that gives other vectors.

    Args:
        path: the baked ``.onnx`` file.
        input_type: ``query`` or ``document`` for search; None, for classifiers and clusters, has
            the model's default prompt.
    """

    def __init__(self, path: str, input_type: Literal["query", "document"] | None = None) -> None:
        self.path = path
        self.input_type = input_type

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Open the model file; nothing is learnt from texts.

        Raises:
            ValueError: ``input_type`` is none of the three.
        """
        if self.input_type not in ("query", "document", None):
            raise ValueError(
                f"input_type is {self.input_type!r}; expected 'query', 'document' or None"
            )
        self.embedder_ = Embedder(self.path)
        self.fingerprint_ = self.embedder_.fingerprint
        return self

    def transform(self, X: Iterable[str]) -> NDArray[np.float32]:
        """Embed texts: ``[texts, dimension]``.

        Raises:
            NotFittedError: ``fit`` comes first.
            ValueError: the file is not the one that the transformer was fitted with.
        """
        check_is_fitted(self)
        if self.embedder_.fingerprint != self.fingerprint_:
            raise ValueError(
                f"{self.path} gives vectors of {self.embedder_.fingerprint}, expected "
                f"{self.fingerprint_}; open the file that was there at fit, or fit again"
            )
        if self.input_type == "query":
            return self.embedder_.embed_queries(X)
        if self.input_type == "document":
            return self.embedder_.embed_documents(X)
        return self.embedder_.embed(X)

    def __getstate__(self) -> dict[str, Any]:
        """All but the open model, of which each process has its own."""
        return {key: value for key, value in super().__getstate__().items() if key != "embedder_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the file again."""
        super().__setstate__(state)
        if "fingerprint_" in state:
            self.embedder_ = Embedder(self.path)

    @property
    def _n_features_out(self) -> int:
        """How many columns ``get_feature_names_out`` names."""
        return self.embedder_.dimension

    def __sklearn_tags__(self) -> Any:
        """It takes texts, not numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags
