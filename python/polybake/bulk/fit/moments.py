"""Mean, covariance and ranges of embeddings, from running sums."""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


class Moments:
    """The running sums of any number of embeddings, in float64.

    Attributes:
        count: Embeddings added.
        total: float64 ``[dimension]``, their sum.
        products: float64 ``[dimension, dimension]``, the sum of their outer products.
        ranges: float64 ``[2, dimension]``, the smallest and the largest value of each element.
    """

    def __init__(self, dimension: int) -> None:
        self.count = 0
        self.total: Doubles = np.zeros(dimension)
        self.products: Doubles = np.zeros((dimension, dimension))
        self.ranges: Doubles = np.array([[np.inf], [-np.inf]]).repeat(dimension, axis=1)

    def add(self, embeddings: NDArray[np.float32]) -> None:
        """Add float32 ``[batch, dimension]``."""
        rows = embeddings.astype(np.float64)
        self.count += len(rows)
        self.total += rows.sum(axis=0)
        self.products += rows.T @ rows
        np.minimum(self.ranges[0], rows.min(axis=0), out=self.ranges[0])
        np.maximum(self.ranges[1], rows.max(axis=0), out=self.ranges[1])

    def mean(self) -> Doubles:
        """The mean, float64 ``[dimension]``."""
        return self.total / self.count

    def covariance(self) -> Doubles:
        """The sample covariance (divided by count - 1), float64 ``[dimension, dimension]``."""
        mean = self.mean()
        return (self.products - self.count * np.outer(mean, mean)) / (self.count - 1)

    def principal(self) -> tuple[Doubles, Doubles]:
        """Return the components' variances, largest first, and the principal components as rows.

        The largest element of each component is positive, as an eigenvector's sign is arbitrary.

        Returns:
            float64 ``[dimension]`` and ``[dimension, dimension]``.
        """
        variances, columns = np.linalg.eigh(self.covariance())
        components = columns.T[::-1]
        largest = np.abs(components).argmax(axis=1)
        signs = np.sign(components[np.arange(len(components)), largest])
        return variances[::-1], components * signs[:, np.newaxis]
