"""Random inputs that look almost right: real samples, changed a little at every level.

All randomness comes from the `random.Random` that is passed in, so an input can be made again from
its seed.
"""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
ODD_STRINGS = (
    "",
    "_",
    "-1",
    "0",
    "1",
    "2-1",
    "1-2",
    "1.1",
    "0.1",
    "999999999",
    "99999999999999999999",
    "1e9",
    "NaN",
    "None",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\x00",
    "\x1b[2J",
    "\x85",
    "\u2028",
    "\ufeff",
    "\u202e",
    "e\u0301",
    "👩‍👩‍👧‍👦",
    "𐍆",
    "مرحبا",
    "a|b=c",
    "#",
    "# text = x",
    "=",
    '"',
    "\\",
    "x" * 300,
    "x" * 70_000,
)
ODD_BYTES = (b"\x00", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\r", b"\n\n\n")


def change_list(rng: random.Random, items: Sequence[T], make: Callable[[T], T]) -> list[T]:
    """Drop, repeat, swap or change some items."""
    changed = list(items)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not changed:
            break
        at = rng.randrange(len(changed))
        action = rng.randrange(5)
        if action == 0:
            del changed[at]
        elif action == 1:
            changed.insert(at, changed[at])
        elif action == 2:
            other = rng.randrange(len(changed))
            changed[at], changed[other] = changed[other], changed[at]
        else:
            changed[at] = make(changed[at])
    return changed


def change_string(rng: random.Random, value: str) -> str:
    """Replace, cut, repeat or extend a string, or put something odd into it."""
    action = rng.randrange(6)
    at = rng.randrange(len(value) + 1)
    odd = rng.choice(ODD_STRINGS)
    if action == 0:
        return odd
    if action == 1:
        return value[:at]
    if action == 2:
        return value * rng.choice((2, 3, 50))
    if action == 3:
        return (
            value[:at] + chr(rng.choice((rng.randrange(0x80), rng.randrange(0xD800)))) + value[at:]
        )
    return value[:at] + odd + value[at:]


def change_bytes(rng: random.Random, data: bytes) -> bytes:
    """Flip, cut, repeat or insert some bytes."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(changed) + 1)
        action = rng.randrange(4)
        if action == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif action == 1:
            del changed[at : at + rng.choice((1, 2, 10, 1_000))]
        elif action == 2:
            changed[at:at] = changed[at : at + rng.choice((1, 10, 500))]
        else:
            changed[at:at] = rng.choice(ODD_BYTES)
    return bytes(changed)


def change_json(rng: random.Random, value: object) -> object:
    """Change one place in a value of JSON: a key, a type, a number, a string."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        changed = dict(value)
        action = rng.randrange(8)
        if action == 0:
            del changed[key]
        elif action == 1:
            changed[change_string(rng, key)[:1_000]] = changed.pop(key)
        else:
            changed[key] = change_json(rng, value[key])
        return changed
    if isinstance(value, list) and value and rng.random() < 0.9:
        return change_list(rng, value, lambda item: change_json(rng, item))
    if isinstance(value, str) and rng.random() < 0.7:
        return change_string(rng, value)
    if isinstance(value, int | float) and rng.random() < 0.5:
        return rng.choice((-value, value + 1, value * 10**6, 0, -1, 2**63, 2**70, 0.5))
    return rng.choice(
        (None, True, False, 0, -1, 1e300, "", "x", [], {}, [[]], {"x": {}}, [None] * 5)
    )


def nested(rng: random.Random) -> bytes:
    """Write JSON that is nested far too deep."""
    depth = rng.choice((10, 1_000, 100_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    return opening * depth + b"1" + closing * depth * rng.randrange(2)
