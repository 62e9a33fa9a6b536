"""Map the ids of a copy back to those of its source."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.client import objects

UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


def old_ids(copy: Path, source: str) -> dict[str, str]:
    """Return what each id of a copy was in its source, as the lines of the copy say."""
    found = {copy.stem: source}
    for entry in objects(copy):
        origin = entry.get("forkedFrom")
        if isinstance(origin, dict) and isinstance(entry.get("uuid"), str):
            found[entry["uuid"]] = str(origin.get("messageUuid"))
    return found


def with_old_ids(value: object, olds: Mapping[str, str]) -> Any:
    """Return a value as JSON has it, with every id that is in it as it was in the source."""
    return json.loads(UUID.sub(lambda found: olds.get(found[0], found[0]), json.dumps(value)))
