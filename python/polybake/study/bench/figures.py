"""What a benchmark found: the content of bench.json."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field

from polybake.base.modelfile.manifest import Deviation, Precision, Storage
from polybake.study.bench.turns import Timing
from polybake.verification.verdict import Status

FORMAT: Literal[1] = 1

#: The percentiles of the latency.
PERCENTILES = (50, 90, 99)


class Figure(BaseModel):
    """A part of what was found."""

    model_config = ConfigDict(frozen=True)


class Environment(Figure):
    """The machine and the versions that the benchmark ran with."""

    device: str = Field(description="What ran the models: cpu or cuda.")
    cpu: str
    processors: int = Field(description="That the process may use.")
    system: str
    python: str
    onnxruntime: str
    polybake: str


class BatchTokens(Figure):
    """The speed with a number of tokens per batch."""

    tokens: int
    texts_per_second: float
    timing: Timing


class TimeParts(Figure):
    """The seconds of each part of one workload; they sum to the whole time."""

    workload: str = Field(description="Its name.")
    seconds: dict[str, float]

    def share(self, part: str) -> float:
        """Return a part's share of the whole time, from 0 to 1."""
        return self.seconds[part] / sum(self.seconds.values())


class ModelFigures(Figure):
    """One model file."""

    name: str = Field(description="Of the file, or its path where several have one name.")
    fingerprint: str
    precision: Precision
    storage: Storage
    deviation: Deviation | None
    bytes: int
    opening: Timing
    bare_opening: Timing = Field(description="A session and a tokenizer, and nothing else.")
    batch_tokens: tuple[BatchTokens, ...]
    parts: tuple[TimeParts, ...] = Field(description="On the CPU; empty on cuda.")

    @property
    def kind(self) -> str:
        """What was given up, such as ``int8`` or ``float16 weights``; else ``float32``."""
        kinds = {"float16": "float16 weights", "float16-table": "float16 token table"}
        return kinds.get(self.storage, self.precision)


class Row(Figure):
    """One model with one workload, in this process or in one of its clients."""

    model: str
    client: str | None = Field(default=None, description="None is this process.")
    threads: int | None = Field(default=None, description="None is the default.")
    tokens: int = Field(description="Of all texts of a call, cut at the model's limit.")
    texts: int
    status: Status = Status.PASS
    message: str = Field(default="", description="Why it was not timed.")
    timing: Timing | None = None
    ratio: float | None = Field(default=None, description="To the speed of the first row.")

    @property
    def label(self) -> str:
        """The row's name, such as ``minilm`` or ``minilm in node``."""
        return f"{self.model} in {self.client}" if self.client else self.model

    @computed_field  # type: ignore[prop-decorator]
    @property
    def texts_per_second(self) -> float | None:
        """The texts of a call, divided by the median of its seconds."""
        return self.texts / self.timing.median if self.timing else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def tokens_per_second(self) -> float | None:
        """The tokens of a call, divided by the median of its seconds."""
        return self.tokens / self.timing.median if self.timing else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def latency(self) -> dict[str, float] | None:
        """Percentiles of a call's seconds; None if each round has only one call."""
        if self.timing is None or len(self.timing.seconds[0]) == 1:
            return None
        return {f"p{percent}": self.timing.percentile(percent) for percent in PERCENTILES}


class Comparison(Figure):
    """All rows of one workload."""

    name: str
    title: str
    single: bool
    rows: tuple[Row, ...]


class Figures(Figure):
    """All that was found."""

    format: Literal[1] = FORMAT
    environment: Environment
    rounds: int
    models: tuple[ModelFigures, ...]
    workloads: tuple[Comparison, ...]

    def exit_code(self) -> int:
        """Return 1 if a client failed or its vectors differ from the model's, else 0."""
        return int(any(row.status.failed for workload in self.workloads for row in workload.rows))
