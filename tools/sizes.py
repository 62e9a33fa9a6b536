"""Sizes of a wheel: what it weighs, unpacked and by kind of file.

python -m tools.sizes dist/*.whl          fails if Plait would take more than 6 MB installed
"""

import sys
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

LIMIT = 6 << 20


def main(wheel: Path) -> None:
    """Print the sizes of a wheel."""
    with ZipFile(wheel) as archive:
        sizes = {item.filename: item.file_size for item in archive.infolist()}
    kinds: Counter[str] = Counter()
    for name, size in sizes.items():
        kinds[Path(name).suffix or "other"] += size
    total = sum(sizes.values())
    print(f"{wheel.name}: {wheel.stat().st_size / (1 << 20):.2f} MB, {len(sizes)} files")
    print(f"unpacked {total / (1 << 20):.2f} MB of {LIMIT >> 20} MB")
    for kind, size in kinds.most_common(6):
        print(f"  {kind:6} {size / (1 << 20):6.2f} MB")
    if total > LIMIT:
        sys.exit("error: the wheel is too large")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
