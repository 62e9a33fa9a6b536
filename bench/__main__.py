"""All benchmarks, one after the other: `make bench`."""

import sys

from bench import conversation, reading
from bench.measure import SHARED, program

if __name__ == "__main__":
    reading.main()
    print("\ngraph\n" + program(sys.executable, "-m", "bench.graph").output)
    if SHARED.is_dir():
        print(program(sys.executable, "-m", "bench.graph", SHARED / "corpus").output)
    conversation.main()
    print("\ntraces\n" + program(sys.executable, "-m", "bench.trace").output)
    for peer in ("usage", "redact"):
        print(f"\n{peer}\n" + program(sys.executable, "-m", f"bench.{peer}").output)
