"""Changes of a table to its very next version, tried again where others came before."""

import random
import time
from collections.abc import Callable
from typing import TypeAlias

from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from plait.lake.parquet import Layout
from plait.lake.places import Place

Actions: TypeAlias = list[AddAction | RemoveAction]
LONGEST = 2.0
"""The longest pause between two attempts, in seconds."""


def opened(place: Place, layout: Layout) -> DeltaTable:
    """Returns a table as it is now."""
    return DeltaTable(place.table(layout.name), storage_options=dict(place.options))


def commit_next(
    place: Place, layout: Layout, plan: Callable[[DeltaTable], Actions], attempts: int
) -> bool:
    """Tells whether a change went in before anybody could change what it was planned upon.

    Files that a failed attempt has written stay for `tidy`. They are not deleted here: an answer
    that got lost may hide that they are in the table.
    """
    for attempt in range(attempts):
        table = opened(place, layout)
        actions = plan(table)
        if not actions or _is_next(table, layout, actions):
            return True
        time.sleep(random.uniform(0, min(LONGEST, 0.02 * 2**attempt)))
    return False


def _is_next(table: DeltaTable, layout: Layout, actions: Actions) -> bool:
    try:
        commit(table, layout, actions, retries=0)
    except CommitFailedError:
        return False
    return True


def commit(table: DeltaTable, layout: Layout, actions: Actions, retries: int) -> None:
    """Brings files into a table, or takes them out of it, in one step."""
    table.create_write_transaction(
        actions,
        mode="append",
        schema=layout.schema,
        partition_by=[layout.by],
        commit_properties=CommitProperties(max_commit_retries=retries),
    )
