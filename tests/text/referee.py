"""The official validator of Universal Dependencies, at the level of the format."""

import io
from functools import cache

from udtools import Validator
from udtools.state import State


@cache
def validator() -> Validator:
    return Validator(level=1, output=None)


def incidents(conllu: str) -> list[str]:
    """Give what the validator finds wrong."""
    state = State()
    validator().validate_file_handle(io.StringIO(conllu, newline="\n"), state)
    return [str(one) for one in state.error_tracker]
