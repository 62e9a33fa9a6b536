"""This machine in lakes: the name of its sessions' source, and the key for pseudonyms."""

import os
from pathlib import Path
from secrets import token_hex

from plait.errors import UserError
from plait.line.files import make_read_error
from plait.line.output import make_write_error

SOURCE_FILE, KEY_FILE = "lake-source", "lake-key"
SHORTEST_KEY = 16


def load_source_name(state: Path) -> str:
    """Return this machine's name in lakes, generated once: it gives nothing away about it."""
    return _read_or_create(state / SOURCE_FILE, f"machine-{token_hex(4)}")


def load_pseudonym_key(state: Path, file: Path | None = None) -> bytes:
    """Return the key for pseudonyms from a file, or the one generated for this machine."""
    if file is None:
        return _read_or_create(state / KEY_FILE, token_hex(32)).encode()
    try:
        key = file.read_bytes().strip()
    except OSError as error:
        raise make_read_error(file, error) from error
    if len(key) < SHORTEST_KEY:
        raise UserError(
            f"the key in '{file}' is too short: names could be guessed",
            f"use at least {SHORTEST_KEY} bytes, for example from `openssl rand -hex 32`",
        )
    return key


def _read_or_create(path: Path, generated: str) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{generated}\n")
    except FileExistsError:
        return path.read_text(encoding="utf-8").strip() or generated
    except OSError as error:
        raise make_write_error(path, error) from error
    return generated
