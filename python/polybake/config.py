"""polybake.toml, read and checked."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    PositiveInt,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
)

from polybake.base.files.hub_reference import HubReference, parse_source
from polybake.base.files.model_folder import SourceSettings
from polybake.base.files.validation import choices, expected, first, key_path, unknown_key
from polybake.base.modelfile.fixture import Device
from polybake.base.modelfile.manifest import Precision, Storage, WeightsPlace, checked_name
from polybake.errors import InputError
from polybake.generation.languages import DEFAULT_LANGUAGES, LANGUAGES
from polybake.generation.render import Part


def _without_nul(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("a path holds no NUL character")
    return path


#: A path that a system can be asked for.
File = Annotated[Path, AfterValidator(_without_nul)]


def _source(value: object) -> HubReference | Path:
    if isinstance(value, HubReference):
        return value
    if not isinstance(value, str | Path):
        raise ValueError("Input should be a path or hub:owner/name")
    try:
        return parse_source(_without_nul(Path(value)))
    except InputError as error:
        raise ValueError(str(error)) from error


#: A model folder, an .onnx file, or a repository of the hub.
ModelSource = Annotated[
    HubReference | Path,
    PlainValidator(_source),
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema({"format": "path", "type": "string"}),
]

#: Bytes of a polybake.toml; tomllib's time grows with the square of a dotted key.
_LARGEST = 65_536


def _known_language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"unknown language; {choices(name, LANGUAGES)}")
    return name


#: A language that clients are generated in.
ClientLanguage = Annotated[
    str, AfterValidator(_known_language), Field(json_schema_extra={"enum": list(LANGUAGES)})
]


class Table(BaseModel):
    """One table of the file: a key that it does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelTable(SourceSettings):
    """``[model]``: what is baked, and where to."""

    name: Annotated[str, AfterValidator(checked_name)]
    source: ModelSource
    output: File
    description: str = ""
    task: str | None = None
    labels: tuple[str, ...] = ()
    default_prompt: str | None = None
    precision: Precision = "float32"
    storage: Storage = "checkpoint"
    weights: WeightsPlace = "inside"
    calibration: File | None = None
    expose: tuple[str, ...] = ()


class RerankTable(Table):
    """``[rerank]``: how a causal language model is asked about a pair, and what it answers.

    Attributes:
        prompt: Texts that are tokenised each by itself, with ``{query}`` and ``{document}``.
        true: The word, of one token, whose logit is the score.
        false: The word whose logit is taken off.
        query_tokens: Tokens kept of the text with the query.
        document_tokens: The same of the text with the document.
        max_length: Tokens of a row; what is too much is cut from the end of the document.
    """

    prompt: Annotated[tuple[str, ...], Field(min_length=1)]
    true: str
    false: str | None = None
    query_tokens: PositiveInt | None = None
    document_tokens: PositiveInt | None = None
    max_length: PositiveInt | None = None


class FixturesTable(Table):
    """``[fixtures]``: text files, one text a line, added to the built-in cases.

    ``embed``: whether the user's own texts go into the model file, too, where whoever has it can
    read them.
    """

    texts: tuple[File, ...] = ()
    output: File | None = None
    embed: Literal["builtin", "all"] = "builtin"


class ClientTable(Table):
    """``[clients.<language>]``: where one client goes, what it is called, and its parts.

    ``bulk`` adds streams, ``cuda`` the proof that a GPU runs the model.
    """

    output: File | None = None
    package: str | None = None
    module: str | None = None
    parts: tuple[Part, ...] = ()
    version: str = Field(default="0.1.0", pattern=r"^\d+\.\d+\.\d+([.-][A-Za-z0-9.]+)?$")


class VerifyTable(Table):
    """``[verify]``: what the judge runs, and what may not be missing."""

    devices: tuple[Device, ...] = ("cpu",)
    harnesses: tuple[str, ...] = ()
    require: tuple[str, ...] = ()


class StoreTable(Table):
    """``[store]``: where ``polybake push`` puts the model file, and ``polybake pull`` finds it.

    ``url`` is an address of fsspec, such as ``s3://bucket/models``, or a folder.
    """

    url: Annotated[str, Field(min_length=1)]


class Config(Table):
    """A whole polybake.toml; every path is absolute or relative to the working folder."""

    model: ModelTable
    steps: tuple[dict[str, Any], ...] | None = None
    prompts: dict[str, str] | None = None
    rerank: RerankTable | None = None
    fixtures: FixturesTable = FixturesTable()
    clients: dict[ClientLanguage, ClientTable] = Field(default_factory=dict)
    verify: VerifyTable = VerifyTable()
    store: StoreTable | None = None
    _folder: Path = PrivateAttr(default=Path())

    @property
    def fixtures_folder(self) -> Path:
        """The folder for golden cases."""
        return self._folder / (self.fixtures.output or Path("fixtures") / self.model.name)

    @property
    def golden_folder(self) -> Path | None:
        """The folder of written golden cases; None if there are only those in the model file."""
        return self.fixtures_folder if self.fixtures_folder.is_dir() else None

    @property
    def client_folders(self) -> list[Path]:
        """The folder of each client."""
        return [table.output for table in self.clients.values() if table.output]

    @property
    def folder(self) -> Path:
        """The folder of polybake.toml, which paths in ``[[steps]]`` are relative to."""
        return self._folder


def load_config(path: Path, settings: Sequence[str] = ()) -> Config:
    """Read a polybake.toml; its paths are relative to the folder it lies in."""
    try:
        with path.open("rb") as file:  # whose size a device does not tell
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise InputError(
                f"{path}: has more than {_LARGEST} bytes; leave out what the model's own files "
                "say, such as its labels or its prompts, or shorten it"
            )
        data = tomllib.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); write one with: polybake init SOURCE"
        ) from error
    except (ValueError, RecursionError) as error:  # numbers too long, and brackets too deep
        raise InputError(f"{path}: is not TOML: {error}; correct that line") from error
    try:
        config = _relative_to(path.parent, config_of(data, settings))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    config._folder = path.parent
    return config


def config_of(tables: dict[str, Any], settings: Sequence[str] = ()) -> Config:
    """Check settings as a polybake.toml has them, and those that stand for them."""
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting}: expected KEY=VALUE, such as model.encoder=torch")
        *names, last = key.split(".")
        table = tables
        for name in names:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise InputError(f"--set {key}: {name} is no table; write it into polybake.toml")
        table[last] = _value(text)
    try:
        return Config.model_validate(tables)
    except ValidationError as error:
        raise InputError(_fault(error)) from error


def _value(text: str) -> object:
    """What a text means in TOML, or the text itself, so that words need no quotes."""
    try:
        data = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):  # as of load_config
        return text
    return data["value"] if len(data) == 1 else text


def _fault(error: ValidationError) -> str:
    """Describe the first fault of the file: its place, its kind, and what is allowed there."""
    fault = first(error)
    key = key_path(fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{key}: {unknown_key(str(fault['loc'][-1]), _keys(fault['loc'][:-1]))}"
    if fault["type"] == "missing":
        return f"{key}: is missing; add it"
    if fault["loc"][:1] == ("clients",) and fault["loc"][-1] == "[key]":
        return f"clients.{fault['input']}: {fault['msg'].removeprefix('Value error, ')}"
    message = expected(fault)
    return f"{key}: {message}" if "; " in message else f"{key}: {message}; correct the value"


def _keys(location: tuple[int | str, ...]) -> list[str]:
    tables: dict[str, type[BaseModel]] = {
        "model": ModelTable,
        "rerank": RerankTable,
        "fixtures": FixturesTable,
        "clients": ClientTable,
        "verify": VerifyTable,
        "store": StoreTable,
    }
    table = tables[str(location[0])] if location else Config
    return list(table.model_fields)


def _relative_to(folder: Path, config: Config) -> Config:
    """Return the config with each relative path made relative to polybake.toml's folder."""
    fixtures, source = config.fixtures, config.model.source
    calibration = config.model.calibration
    clients = config.clients or dict.fromkeys(DEFAULT_LANGUAGES, ClientTable())
    return config.model_copy(
        update={
            "model": config.model.model_copy(
                update={
                    "source": folder / source if isinstance(source, Path) else source,
                    "output": folder / config.model.output,
                    "calibration": calibration and folder / calibration,
                }
            ),
            "fixtures": fixtures.model_copy(
                update={
                    "texts": tuple(folder / path for path in fixtures.texts),
                }
            ),
            "clients": {
                language: table.model_copy(
                    update={"output": folder / (table.output or Path("clients") / language)}
                )
                for language, table in clients.items()
            },
        }
    )
