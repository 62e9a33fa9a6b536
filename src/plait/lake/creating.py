"""A layout to an empty table at a place, made once, however many make it at the same time."""

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import msgspec
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from plait.lake.parquet import Layout
from plait.lake.places import Place

FIRST = Path("_delta_log", f"{0:020}.json")
"""The first version of a table."""


def create_table(place: Place, layout: Layout, configuration: Mapping[str, str]) -> None:
    """Makes a table where there is none; one that is there stays as it is."""
    if place.folder:
        _put(place.folder / layout.name, _first_version(layout, configuration))
        return
    address, options = place.table(layout.name), dict(place.options)
    try:
        _create(address, layout, configuration, options)
    except DeltaError:
        if not DeltaTable.is_deltatable(address, options):  # else another one made it meanwhile
            raise


def _create(
    address: str, layout: Layout, configuration: Mapping[str, str], options: dict[str, str]
) -> None:
    DeltaTable.create(
        address,
        layout.schema,
        mode="ignore",
        partition_by=[layout.by],
        configuration=dict(configuration),
        storage_options=options,
        raise_if_key_not_exists=False,
    )


def _first_version(layout: Layout, configuration: Mapping[str, str]) -> bytes:
    """Returns what begins a table, without where it lies.

    Delta would write that down: the folder of whoever made a lake, with their name in it, for
    all who are given the lake.
    """
    with TemporaryDirectory(prefix="plait-lake-") as folder:
        _create(folder, layout, configuration, {})
        lines = Path(folder, FIRST).read_bytes().splitlines()
    actions = [msgspec.json.decode(line) for line in lines]
    for one in actions:
        one.get("commitInfo", {}).get("operationParameters", {}).pop("location", None)
    return b"\n".join(map(msgspec.json.encode, actions))


def _put(folder: Path, data: bytes) -> None:
    """Puts the first version into a folder, whole, where there is none."""
    first = folder / FIRST
    first.parent.mkdir(parents=True, exist_ok=True)
    beside = folder / f".{uuid4().hex}"
    try:
        beside.write_bytes(data)
        os.link(beside, first)
    except FileExistsError:  # another one made it
        pass
    finally:
        beside.unlink(missing_ok=True)
