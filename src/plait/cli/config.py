"""`plait config` and `plait completion`: settings, shown and changed, and the script for a shell."""

from typing import Any

import click
from click.shell_completion import get_completion_class

from plait.cli.app import LazyGroup, app
from plait.cli.options import Request, argument, combine_options, command, global_options
from plait.cli.registry import subcommands
from plait.errors import UserError
from plait.line import default_jobs
from plait.settings import (
    NAMES,
    SETTINGS,
    check_choice,
    find_config_file,
    find_editor,
    find_overriding_variable,
    parse_config,
    read_config_text,
)
from plait.settings.file import (
    change_config,
    find_line,
    find_setting,
    set_key,
    unset_key,
    write_template,
)
from plait.terminal.output import select_fields, write_bytes

WHERE = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/plait.fish",
}
SHOWN = {"cache_dir": "cache", "data_dir": "data", "state_dir": "state"}


key_argument = argument(
    shell_complete=lambda _, __, start: [key for key in SETTINGS if key.startswith(start)]
)


@click.group(
    "config",
    cls=LazyGroup,
    table=subcommands("config"),
    invoke_without_command=True,
    epilog="plait config\nplait config set pager less\nplait config edit",
)
@combine_options(
    click.option("--json", "as_json", is_flag=True, help="Print JSON."), global_options
)
@click.pass_context
def config_command(ctx: click.Context, as_json: bool) -> None:
    """Show the settings in effect and where Plait stores its data, or change them.

    Only commands that edit or continue sessions change files in a root folder.
    """
    if ctx.invoked_subcommand is not None:
        return
    request: Request = ctx.obj
    settings = request.settings
    shown = {
        "config": find_config_file(),
        "roots": settings.roots,
        **select_fields(settings, "index", "cache", "data", "state", "pager", "colour"),
        **select_fields(settings, "prices", "claude"),
        "jobs": settings.jobs or default_jobs(),
    }
    if as_json:
        request.output.json(shown)
        return
    table = request.output.table("setting", "value", wide="value")
    written = {
        key: "(set, not shown)" if SETTINGS[key].is_secret else str(value)
        for key, value in parse_config(
            find_config_file(), read_config_text(find_config_file())
        ).items()
        if SHOWN.get(key, key) not in shown
    }
    for name, value in {**shown, **written}.items():
        lines = value if isinstance(value, tuple) else (value or "none",)
        table.add_row(name, "\n".join(map(str, lines)))
    request.output.print(table)


@command(examples="plait config set pager less\nplait config set roots ~/.claude ~/backup/claude")
def set_command(
    request: Request,
    key: str = key_argument,
    values: tuple[str, ...] = argument(metavar="VALUE..."),
) -> None:
    """Change a setting in `config.toml`; comments and everything else stay as they are.

    A list takes several values. For a key or password, leave out VALUE to be prompted for it.
    """
    setting = find_setting(key)
    if setting.kind is dict:
        raise UserError(f"'{key}' is a table", "`plait config edit` opens the file")
    if not values and setting.is_secret:
        values = (click.prompt(key, hide_input=True, err=True),)
    value: Any = list(values)
    if setting.kind is not list:
        if len(values) != 1:
            raise UserError(f"'{key}' takes one value")
        try:
            value = setting.kind(values[0])
        except ValueError:
            raise UserError(f"'{values[0]}' is not {NAMES[setting.kind]}") from None
        if setting.choices:
            check_choice(key, value, setting.choices)
    change_config(lambda text: set_key(text, key, value))
    shown = "(not shown)" if setting.is_secret else " ".join(values)
    request.output.note(f"{key} is now {shown or 'empty'}")
    if variable := find_overriding_variable(key):
        request.output.note(f"but ${variable} in your environment overrides it")


@command(examples="plait config unset pager")
def unset_command(request: Request, key: str = key_argument) -> None:
    """Remove a setting from `config.toml`, so that its default applies again."""
    if not find_line(read_config_text(find_config_file()), key):
        find_setting(key)
        request.output.note(f"'{key}' was not set")
        return
    change_config(lambda text: unset_key(text, key))
    request.output.note(f"{key} was removed")


@command(examples="plait config edit")
def edit_command(request: Request) -> None:
    """Edit `config.toml` in your editor; a new file lists every setting with its description."""
    path = find_config_file()
    if not path.exists():
        change_config(lambda _: write_template())
    click.edit(filename=str(path), editor=find_editor())
    parse_config(path, read_config_text(path))
    request.output.note(f"saved '{path}'", no_wrap=True)


@click.command("completion")
@click.argument("shell", type=click.Choice(list(WHERE)))
def completion_command(shell: str) -> None:
    """Print the completion script for your shell.

    For example: plait completion bash >> ~/.bashrc
    """
    kind = get_completion_class(shell)
    assert kind is not None  # the choices are the shells that click knows
    script = kind(app, {}, "plait", "_PLAIT_COMPLETE").source()
    write_bytes(script.encode() + b"\n")
