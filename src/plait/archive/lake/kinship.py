"""What sessions share with others, as rows of a lake, to the families that they make."""

from array import array
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from plait.archive.families import families_of
from plait.lake.parquet import Rows


def kin_rows(source: str, found: "Iterable[tuple[str, str, array[int]]]") -> Rows:
    """Returns what sessions share: by what each is known, its state, digests of all it names."""
    given = list(found)
    ends = array("i", [0])
    values = array("q")
    for _, _, ties in given:
        values.extend(ties)
        ends.append(len(values))
    flat = pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])
    return pa.table(
        {
            "source": pa.array([source] * len(given), pa.string()),
            "session": pa.array([name for name, _, _ in given], pa.string()),
            "fingerprint": pa.array([state for _, state, _ in given], pa.string()),
            "ties": pa.ListArray.from_arrays(pa.array(ends, pa.int32()), flat),
        }
    )


def families_in(kin: Rows) -> list[tuple[int, ...]]:
    """Returns the rows that share something, directly or by others, by their places.

    It gives what `sharing_pairs` and `families_of` do, of millions of digests at once.
    """
    ties = kin["ties"].combine_chunks()
    of = pc.list_parent_indices(ties).cast(pa.int64())
    rows = pa.table({"tie": pc.list_flatten(ties), "of": of})
    first = rows.group_by("tie").aggregate([("of", "min"), ("of", "max")])
    shared = first.filter(pc.not_equal(first["of_min"], first["of_max"]))
    joined = rows.join(shared.select(["tie", "of_min"]), "tie", join_type="inner")
    pairs = joined.group_by(["of", "of_min"]).aggregate([])
    return families_of(
        range(kin.num_rows),
        zip(pairs["of"].to_pylist(), pairs["of_min"].to_pylist(), strict=True),
    )
