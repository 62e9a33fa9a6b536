"""`plait lake tables`: the tables of a lake and their columns, with what each says."""

from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import Request, global_options, json_option

if TYPE_CHECKING:
    from plait.lake.schema import Table


@click.command("tables")
@click.argument("name", metavar="[TABLE]", required=False)
@json_option
@global_options
@click.pass_obj
def command(request: Request, name: str | None, as_json: bool) -> None:
    """List the tables of a lake, or the columns of one, with what each says.

    In a lake of counts, what is marked `named` holds stand-ins, what is marked `worded` nothing;
    `id` and `listed` hold stand-ins for what looks like no id, or is no word that all know.
    """
    from plait.errors import UserError
    from plait.lake.schema import TABLES

    if name is not None and name not in TABLES:
        raise UserError(f"a lake has no table '{name}'", f"it has {', '.join(TABLES)}")
    chosen = [TABLES[name]] if name else list(TABLES.values())
    if as_json:
        request.output.json([_as_json(one) for one in chosen])
    elif name:
        _print_columns(request, chosen[0])
    else:
        shown = request.output.table("table", "what it holds", wide="what it holds")
        for one in chosen:
            shown.add_row(one.name, one.says)
        request.output.print(shown)


def _as_json(table: "Table") -> dict[str, Any]:
    return {
        "table": table.name,
        "says": table.says,
        "is_in_counts": table.is_in_counts,
        "columns": [
            {"column": one.name, "kind": one.kind, "bearing": one.bearing, "says": one.says}
            for one in table.columns
        ],
    }


def _print_columns(request: Request, table: "Table") -> None:
    shown = request.output.table("column", "kind", "bearing", "what it says", wide="what it says")
    for one in table.columns:
        shown.add_row(one.name, one.kind, "" if one.bearing == "plain" else one.bearing, one.says)
    request.output.print(shown)
