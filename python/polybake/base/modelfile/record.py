"""The base of all parts of a manifest and of a fixture."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer


class Record(BaseModel):
    """A part of a model file: immutable, and tolerant of keys added by later versions."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class GrownRecord(Record):
    """A record that omits some keys if they are empty, like files of earlier versions.

    Attributes:
        later: The omitted keys.
    """

    later: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _dump(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        data: dict[str, object] = dump(self)
        return {key: value for key, value in data.items() if value or key not in self.later}
