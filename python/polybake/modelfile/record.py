"""What every part of a manifest and of a fixture is."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A part of a model file: immutable, and tolerant of keys added by later versions."""

    model_config = ConfigDict(frozen=True, extra="ignore")
