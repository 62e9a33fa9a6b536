"""What click says of a command line to an error of ours, with what was probably meant."""

from collections.abc import Collection

import click

from plait.errors import UserError

MEANT = {
    "branch": "fork",
    "cost": "usage",
    "find": "search",
    "graph": "log",
    "grep": "search",
    "history": "log",
    "list": "ls",
    "read": "show",
    "remove": "delete",
    "rm": "delete",
    "view": "show",
    "web": "serve",
}
"""Commands by the names that others give them."""
NEAR = 0.7
"""How alike two words are when one may be the other mistyped."""


def usage_error(error: click.ClickException) -> UserError:
    """Returns the same error in our words: what is wrong, what was meant, where to read on."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "plait"
    message, meant = _told(error, context)
    hints = [f"`{path} --help` shows what there is"]
    if meant:
        hints.insert(0, f"did you mean {' or '.join(f'`{one}`' for one in meant)}?")
    elif isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
        hints.append("put `--` before a name that begins with a dash")
    return UserError(message[:1].lower() + message[1:], *hints)


def no_such_command(name: str, path: str, known: Collection[str]) -> UserError:
    """Returns the error about a command that nobody knows."""
    meant = near(name, known) or [one for one in known if one == MEANT.get(name)]
    hints = [f"did you mean {' or '.join(f'`{path} {one}`' for one in meant)}?"] if meant else []
    return UserError(f"no such command '{name}'", *hints, f"`{path} --help` shows what there is")


def near(word: str, names: Collection[str]) -> list[str]:
    """Returns the names that begin with a word, else those that are it mistyped; two at most."""
    bare, known = word.strip("-"), {name.strip("-"): name for name in names}
    begun = [name for name in known if bare[1:] and name.startswith(bare)]
    if begun:
        return [known[name] for name in sorted(begun)[:2]]
    from difflib import get_close_matches

    return [known[name] for name in get_close_matches(bare, known, n=2, cutoff=NEAR)]


def _told(error: click.ClickException, context: click.Context | None) -> tuple[str, list[str]]:
    if isinstance(error, click.NoSuchOption):
        name = error.option_name
        known = _options_of(context) if context else []
        return f"no such option '{name}'", near(name, known) if name.startswith("--") else []
    if isinstance(error, click.BadParameter) and error.param is not None:
        kind, message = error.param.type, error.message.rstrip(".")
        if isinstance(kind, click.Choice):
            named = isinstance(error.param, click.Option)
            words = f"{error.param.opts[0]}: {message}" if named else message
            return words, near(message.split("'")[1], [str(one) for one in kind.choices])
    return error.format_message().rstrip("."), []


def _options_of(context: click.Context) -> list[str]:
    params = context.command.get_params(context)
    return [name for one in params for name in one.opts if name.startswith("--")]
