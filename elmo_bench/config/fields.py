"""The base of all settings, and the kinds of values that settings take."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.functional_validators import AfterValidator
from pydantic.types import JsonValue

JsonDict = dict[str, JsonValue]


# Marks of fields, for the identity of what settings describe (config/identity.py).
LABEL: JsonDict = {"identity": "label"}  # only names something
INPUT_FILE: JsonDict = {"identity": "file"}  # a path; what counts is the file's content


class Settings(BaseModel):
    """Values of one config group: immutable; unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())

    def plain(self) -> dict[str, Any]:
        """The values as plain dicts and lists, with the keys that the yaml files have."""
        return self.model_dump(by_alias=True, serialize_as_any=True)

    def but(self, **changes: Any) -> "Any":
        """The same settings with some fields changed."""
        return self.model_copy(update=changes)


def _filters(value: list[list[int]]) -> list[list[int]]:
    for pair in value:
        if len(pair) != 2 or min(pair) < 1 or max(pair) > 1_000_000:
            raise ValueError(f"must be a list of [width, number], both at least 1, not {pair}")
    if not value:
        raise ValueError("must have at least one [width, number]")
    return value


Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[Finite, Field(gt=0)]
NonNegative = Annotated[Finite, Field(ge=0)]
Probability = Annotated[Finite, Field(ge=0, le=1)]
Size = Annotated[int, Field(ge=1, le=1_000_000)]  # of a layer or a vector; bounds the memory
Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]  # what NumPy takes
Filters = Annotated[list[list[int]], AfterValidator(_filters)]  # [width, number] of each kind
