"""A store whose blocks, frames and packs are small, so that little data has many of them.

python -m tests.keep.small FOLDER CONFIG [FORGET]   keeps once, then forgets a session
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from plait.keep import Store, blocks, keeping, pack_writer, packs, tidying
from tests.keep.archives import found

LEAST, MOST, LONGEST, FRAME, FULL = 256, 2048, 8192, 6000, 12_000


@contextmanager
def small_blocks() -> Iterator[None]:
    """Makes everything small while the block runs."""
    with ExitStack() as stack:
        for module in (blocks, keeping, packs, pack_writer, tidying):
            for name in ("LEAST", "MOST", "LONGEST", "FRAME", "FULL"):
                if hasattr(module, name):
                    stack.enter_context(patch.object(module, name, globals()[name]))
        stack.enter_context(patch.object(blocks, "ROOM", 4 * LONGEST))
        stack.enter_context(patch.object(tidying, "TIERS", (2000, FULL)))
        stack.enter_context(patch.object(tidying, "MANY", 3))
        yield


def main() -> None:
    """Says that it is about to begin, and begins."""
    folder, config, *gone = sys.argv[1:]
    store = Store.open(Path(folder))
    with small_blocks():
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        store.keep(found(Path(config)))
        store.forget([one for one in store.sessions() if one.session in gone])
        store.keep(found(Path(config)))


if __name__ == "__main__":
    main()
