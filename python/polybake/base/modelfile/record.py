"""What every part of a manifest and of a fixture is."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer


class Record(BaseModel):
    """A part of a model file: immutable, and tolerant of keys added by later versions."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class GrownRecord(Record):
    """A record with keys that are absent where they are empty, as in files of earlier versions.

    Attributes:
        later: These keys.
    """

    later: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _dump(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        data: dict[str, object] = dump(self)
        return {key: value for key, value in data.items() if value or key not in self.later}
