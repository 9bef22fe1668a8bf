"""What a model is about: its language, licence and data, as `model.json` and its card say it."""

import re
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from headwise.settings.recipe import read_toml, to_struct

Line = Annotated[str, Meta(max_length=2_000, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
"""Text without line ends or other control characters, since it goes into several formats."""
LanguageCode = Annotated[str, Meta(pattern=r"^([a-z]{2,3})?$")]
Licence = Annotated[
    str, Meta(max_length=200, pattern=r"^([A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*)?$")
]
"""An SPDX expression: `CC-BY-SA-4.0`, `LGPLLR AND CC-BY-SA-4.0`."""
_NON_COMMERCIAL = re.compile(r"-NC(-|$)")


class DataSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A treebank, or anything else that a model learned from."""

    name: Line
    release: Line = ""
    licence: Line = ""
    attribution: Line = ""
    """Who made it."""


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a model is about. Everything may be missing: a training run does not know it all."""

    language: LanguageCode = ""
    """The code of Universal Dependencies: `fr`, `grc`."""
    licence: Licence = ""
    sources: tuple[DataSource, ...] = ()
    limits: Line = ""
    """What the model was not made for: `speech`, `charters of the 8th century`."""
    notes: Line = ""

    @property
    def is_non_commercial(self) -> bool:
        """Whether the licence forbids commercial use."""
        return _NON_COMMERCIAL.search(self.licence) is not None


def read_about(path: Path) -> About:
    """Read a TOML file with the fields of `About`; each `[[sources]]` is a `DataSource`."""
    return to_struct(read_toml(path, "docs/package.md has an example"), About, str(path))
