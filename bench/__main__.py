"""Measure common tasks in one table: `make bench`; `--all` runs every benchmark."""

import sys

from bench import conversation, reading, table
from bench.measure import SHARED, program


def everything() -> None:
    """Run all benchmarks, one after the other."""
    reading.main()
    print("\ngraph\n" + program(sys.executable, "-m", "bench.graph").output)
    if SHARED.is_dir():
        print(program(sys.executable, "-m", "bench.graph", SHARED / "corpus").output)
    conversation.main()
    print("\ntraces\n" + program(sys.executable, "-m", "bench.trace").output)
    for peer in ("usage", "redact"):
        print(f"\n{peer}\n" + program(sys.executable, "-m", f"bench.{peer}").output)


if __name__ == "__main__":
    if "--all" in sys.argv[1:]:
        everything()
    else:
        table.main()
