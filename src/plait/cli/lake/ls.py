"""`plait lake ls`: what a lake holds, source by source."""

from typing import Any

import click

from plait.cli.lake.options import lake_option, opened_lake
from plait.cli.options import Request, global_options, json_option
from plait.cli.text import counted, number, safe_line, size

NONE = "none"
"""The month of sessions in which no line has a time."""
COLUMNS = ("source", "person", "team", "month", "log_bytes")


@click.command("ls")
@lake_option
@json_option
@global_options
@click.pass_obj
def command(request: Request, url: str | None, as_json: bool) -> None:
    """List whose sessions a lake holds: how many, how much, of which months."""
    lake = opened_lake(request, url)
    sources = _sources(lake.dataset("sessions").to_table(columns=list(COLUMNS)).to_pylist())
    output = request.output
    if as_json:
        output.json({"lake": lake.url, "profile": lake.profile, "sources": sources})
        return
    table = output.table("source", "person", "team", "sessions", "logs", "months", right=RIGHT)
    for one in sources:
        months = f"{one['first']} – {one['last']}" if one["first"] != one["last"] else one["first"]
        table.add_row(
            *(safe_line(one[name] or "") for name in ("source", "person", "team")),
            *(number(one["sessions"]), size(one["log_bytes"]), months),
        )
    if sources:
        output.print(table)
    held = counted(sum(one["sessions"] for one in sources), "session")
    output.unbroken(f"{held}, a lake of {lake.profile}: {safe_line(lake.url)}", style="dim")


RIGHT = ("sessions", "logs")


def _sources(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns what each source has, in the order of their names."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        whose = (row["source"], row["person"] or "", row["team"] or "")
        found.setdefault(whose, []).append(row)
    return [
        {
            "source": source,
            "person": person,
            "team": team,
            "sessions": len(own),
            "log_bytes": sum(one["log_bytes"] or 0 for one in own),
            "first": min(_months_of(own)),
            "last": max(_months_of(own)),
        }
        for (source, person, team), own in sorted(found.items())
    ]


def _months_of(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the months of sessions, but for those that no line says one of."""
    return [row["month"] for row in rows if row["month"] != NONE] or [NONE]
