"""`plait lake`: sessions as tables in a folder or an object store, and what is asked of them.

Subcommands are imported when they are called.
"""

import click

from plait.cli.app import LazyGroup

SUBCOMMANDS = {
    "ask": ("plait.cli.lake.ask", "Ask a saved question, or list them."),
    "build": ("plait.cli.lake.build", "Bring a lake up to date with sessions."),
    "forget": ("plait.cli.lake.forget", "Take all that came from a source out of a lake."),
    "ls": ("plait.cli.lake.ls", "List whose sessions a lake holds."),
    "ship": ("plait.cli.lake.ship", "Ship what is new here to a lake elsewhere."),
    "sql": ("plait.cli.lake.sql", "Ask in SQL."),
    "tables": ("plait.cli.lake.tables", "List the tables of a lake and their columns."),
    "tidy": ("plait.cli.lake.tidy", "Join small files, and delete what holds no more."),
}


@click.group("lake", cls=LazyGroup, table=SUBCOMMANDS)
def command() -> None:
    """Keep sessions as tables in a folder or an object store, and ask them by SQL.

    A lake holds the sessions of one archive or of thousands: one row a session, a record, a
    turn, a response, a call of a tool. Needs `pip install 'plait[lake]'`.
    """
