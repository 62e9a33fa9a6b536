"""The command reference, the man page and the table of settings, made from the code's own tables.

python -m tools.commands          writes docs/guide/commands.md, docs/plait.1, docs/guide/setup.md
"""

import re
from inspect import cleandoc
from pathlib import Path

import click

from plait.cli.app import app, load_command
from plait.cli.options import GENERAL
from plait.cli.registry import COMMANDS, EVERYDAY, GROUPS, ROWS, Command
from plait.settings import SETTINGS, VARIABLES

ROOT = Path(__file__).resolve().parents[1]
REFERENCE, MAN_PAGE = ROOT / "docs" / "guide" / "commands.md", ROOT / "docs" / "plait.1"
SETTINGS_PAGE = ROOT / "docs" / "guide" / "setup.md"
EFFECTS = {"reads": "", "writes": "writes files", "network": "may use the network"}


def visible(group: str) -> list[Command]:
    """Return the commands of a group that help lists, with their subcommands."""
    hidden = {row.name for row in ROWS if row.is_hidden}
    return [
        row
        for row in ROWS
        if row.group == group and not row.is_hidden and row.name.split()[0] not in hidden
    ]


def find_sections() -> dict[str, str]:
    """Return where the guide describes each command, as the target of a link."""
    places: dict[str, str] = {}
    for page in sorted(REFERENCE.parent.glob("*.md")):
        for level, title in re.findall(r"^(#+) plait (.+)$", page.read_text(), re.MULTILINE):
            anchor = (
                "" if level == "#" else "#plait-" + re.sub(r"[^\w -]", "", title).replace(" ", "-")
            )
            for name in re.sub(r"\bplait ", "", title).split(", "):
                places.setdefault(name, page.name + anchor)
    return places


def write_reference() -> str:
    """Return the reference of all commands, by group."""
    places = find_sections()
    names = ", ".join(f"`{name}`" for name in EVERYDAY)
    parts = [
        "# All commands",
        "",
        "Made by `python -m tools.commands` from `src/plait/cli/registry.py`.",
        "",
        f"Everyday: {names}.",
    ]
    for group in GROUPS:
        parts += ["", f"## {group}", "", "| command | what it does | |", "|---|---|---|"]
        for row in visible(group):
            place = places.get(row.name) or places[row.name.split()[0]]
            name = f"[`{row.name}`]({place})"
            parts.append(f"| {name} | {row.summary} | {EFFECTS[row.effect]} |")
    return "\n".join(parts) + "\n"


def describe_commands() -> str:
    """Return what `--help` says of every command, as a page of the site."""
    parts = ["# Reference", "", "What `plait COMMAND --help` prints."]
    for group in GROUPS:
        parts += ["", f"## {group}"]
        for row in visible(group):
            context = click.Context(load_command(row), info_name=f"plait {row.name}")
            help_text = context.command.get_help(context)
            parts += ["", f"### plait {row.name}", "", "```text", help_text, "```"]
    return "\n".join(parts) + "\n"


def write_man_page() -> str:
    """Return the man page, as troff."""

    def escape(text: str) -> str:
        return text.replace("\\", "\\e").replace("-", "\\-").replace("\n.", "\n\\&.")

    parts = [
        '.TH PLAIT 1 "" "" "User Commands"',
        ".SH NAME",
        "plait \\- read, search, export and edit Claude Code sessions",
        ".SH SYNOPSIS",
        ".B plait",
        "[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]",
        ".SH DESCRIPTION",
        "\n.PP\n".join(map(escape, cleandoc(app.help or "").split("\n\n"))),
    ]
    for group in GROUPS:
        parts.append(f".SH {group.upper()}")
        for row in visible(group):
            command = load_command(row)
            context = click.Context(command, info_name=f"plait {row.name}")
            parts += [".SS " + escape(context.get_usage().removeprefix("Usage: "))]
            parts.append(escape(" ".join((command.help or row.summary).split())))
            for param in command.get_params(context):
                record = param.get_help_record(context)
                if (
                    record is not None
                    and isinstance(param, click.Option)
                    and param.name not in GENERAL
                ):
                    parts += [".TP", f".B {escape(record[0])}", escape(record[1])]
    return "\n".join(parts) + "\n"


def write_settings(page: str) -> str:
    """Return a page with its table of settings as they are today."""

    def code(names: str) -> str:
        return ", ".join(f"`{name}`" for name in names.split())

    rows = [
        *(
            f"| `{name}` | {code(setting.variables)} | {setting.summary} |"
            for name, setting in SETTINGS.items()
        ),
        *(f"| | {code(names)} | {summary} |" for names, summary in VARIABLES.items()),
    ]
    head = "| setting in `config.toml` | environment | |\n|---|---|---|\n"
    before, _, after = page.partition(head)
    return before + head + "\n".join(rows) + after[after.index("\n\n") :]


if __name__ == "__main__":
    REFERENCE.write_text(write_reference(), encoding="utf-8")
    MAN_PAGE.write_text(write_man_page(), encoding="utf-8")
    page = SETTINGS_PAGE.read_text(encoding="utf-8")
    SETTINGS_PAGE.write_text(write_settings(page), encoding="utf-8")
    print(f"{len(COMMANDS)} commands written")
