"""A store whose blocks, frames and packs are small, so that little data has many of them.

python -m tests.keep.small FOLDER CONFIG [FORGET]   keeps once, then forgets a session
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from plait.store import Store, packs, store
from tests.keep.archives import found

SMALL = {
    "MIN_BLOCK": 256,
    "MAX_BLOCK_TARGET": 2048,
    "MAX_BLOCK": 8192,
    "ROOM": 4 * 8192,
    "FRAME": 6000,
    "FULL": 12_000,
    "TIERS": (2000, 12_000),
    "MANY": 3,
}


@contextmanager
def small_blocks() -> Iterator[None]:
    """Make everything small while the block runs."""
    with ExitStack() as stack:
        for module in (packs, store):
            for name, value in SMALL.items():
                if hasattr(module, name):
                    stack.enter_context(patch.object(module, name, value))
        yield


def main() -> None:
    """Say that it is about to begin, and begins."""
    folder, config, *gone = sys.argv[1:]
    kept = Store.open(Path(folder))
    with small_blocks():
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        kept.keep(found(Path(config)))
        kept.forget([session for session in kept.sessions() if session.session in gone])
        kept.keep(found(Path(config)))


if __name__ == "__main__":
    main()
