"""Run the fuzzers for a bounded time, or one input again.

    python -m fuzz --seconds 600             all targets, a new seed
    python -m fuzz --seconds 20 --seed 7     the same inputs each time
    python -m fuzz --replay tests/fixtures/fuzz/conll-3f2a91

An input that breaks a promise is kept in the folder `crashes`. Once the bug is fixed, move it to
`tests/fixtures/fuzz`: the tests try everything there.
"""

import argparse
import faulthandler
import hashlib
import logging
import random
import signal
import sys
import time
import traceback
from collections import Counter
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from types import FrameType

from fuzz.server import fuzzed_server
from fuzz.targets import TARGETS, Target

HANG_SECONDS = 5
SLICE_SECONDS = 0.5
"""How long one target runs before the next has its turn."""


class HangError(Exception):
    """A check that takes too long."""


def check(target: Target, data: bytes) -> str | None:
    """Check one input; return what is wrong with the answer to it, as text."""
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        target.check(data)
    except Exception:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def replay(path: Path) -> str | None:
    """Check an input that was kept; the name of its file starts with the target."""
    name = path.name.partition("-")[0]
    with ExitStack() as stack:
        known = {target.name: target for target in TARGETS}
        target = known.get(name) or stack.enter_context(fuzzed_server())
        return check(target, path.read_bytes())


def run(seconds: float, seed: int, names: list[str], crashes: Path) -> int:
    """Run all targets in turn; return the number of different failures."""
    failures: dict[str, Path] = {}
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        targets = [target for target in TARGETS if target.name in names]
        if "server" in names:
            targets.append(stack.enter_context(fuzzed_server()))
        for target in targets:  # loads or trains a model, which should not count
            check(target, target.make(random.Random(seed)))
        end = time.monotonic() + seconds
        for target in cycle(targets):
            until = min(end, time.monotonic() + SLICE_SECONDS)
            while time.monotonic() < until:
                rng = random.Random(f"{seed}/{target.name}/{counts[target.name]}")
                counts[target.name] += 1
                data = target.make(rng)
                if problem := check(target, data):
                    keep(target.name, data, problem, crashes, failures)
            if time.monotonic() >= end:
                break
    total = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    print(f"{counts.total():,} inputs ({total}), seed {seed}: {len(failures)} kinds of failure")
    return len(failures)


def keep(name: str, data: bytes, problem: str, crashes: Path, failures: dict[str, Path]) -> None:
    """Keep the first input of each kind of failure, that is, of each place in the code."""
    kind = "\n".join(line for line in problem.splitlines() if line.startswith("  File"))[-400:]
    if kind in failures:
        return
    crashes.mkdir(parents=True, exist_ok=True)
    path = crashes / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    failures[kind] = path
    print(f"{path}\n{problem}", flush=True)


def give_up(_: int, __: FrameType | None) -> None:
    """End a check that hangs."""
    raise HangError(f"no answer within {HANG_SECONDS} s")


def main() -> int:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    names = [*(target.name for target in TARGETS), "server"]
    parser.add_argument("--seconds", type=float, default=60.0, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--target", choices=names, action="append", help="default: all")
    parser.add_argument(
        "--crashes", type=Path, default=Path("crashes"), help="default: %(default)s"
    )
    parser.add_argument("--replay", type=Path, metavar="FILE", help="check one input again")
    given = parser.parse_args()
    faulthandler.enable()
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # it reports every bad form
    signal.signal(signal.SIGALRM, give_up)
    if given.replay:
        problem = replay(given.replay)
        print(problem or "no failure")
        return int(problem is not None)
    return int(run(given.seconds, given.seed, given.target or names, given.crashes) > 0)


if __name__ == "__main__":
    sys.exit(main())
