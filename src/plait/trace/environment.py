"""The Langfuse project that a project's environment names, in the variables of cc-langfuse.

Only hooks that were installed with `--from-environment` load this. Each Langfuse project has a
folder of its own with jobs, state, waiting spans and a worker, so no environment can redirect what
was left in another one:

    <state>/trace/targets/<hash>/target.json    address and keys, readable by the user alone

Little is imported, because Claude Code waits for the hook.
"""

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from plait.errors import UserError

OPTION = "--from-environment"
SWITCH = "TRACE_TO_LANGFUSE"
PREFIXES = ("CC_LANGFUSE_", "LANGFUSE_")
"""The first one wins, so that other programs can have other keys."""
CLOUD = "https://cloud.langfuse.com"
SETTINGS_FILES = ("settings.json", "settings.local.json")
TARGETS_FOLDER, TARGET_FILE = "targets", "target.json"


class LangfuseProject(NamedTuple):
    """The address and the keys of a Langfuse project."""

    host: str
    public_key: str
    secret_key: str

    def __repr__(self) -> str:
        return f"LangfuseProject({self.host})"


def find_project_folder(environment: Mapping[str, str], hook_input: bytes) -> Path | None:
    """Return the folder that Claude Code was started in, as the hook was told."""
    named = environment.get("CLAUDE_PROJECT_DIR")
    if not named:
        try:
            named = json.loads(hook_input).get("cwd")
        except (ValueError, AttributeError, RecursionError):
            return None
    return Path(named) if isinstance(named, str) and Path(named).is_absolute() else None


def read_environment(
    environment: Mapping[str, str], config: Path, project: Path | None
) -> dict[str, str]:
    """Return an environment with the variables of Claude Code's settings.

    Claude Code hands these to its hooks, so the files are only read where it has not.
    """
    found = dict(environment)
    if SWITCH in environment:
        return found
    files = [config / SETTINGS_FILES[0]]
    files += [project / ".claude" / name for name in SETTINGS_FILES] if project else []
    for file in files:
        try:
            settings: Any = json.loads(file.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        variables = settings.get("env") if isinstance(settings, dict) else None
        if isinstance(variables, dict):
            found.update({name: str(value) for name, value in variables.items()})
    return found


def find_langfuse_project(environment: Mapping[str, str]) -> LangfuseProject | None:
    """Return the Langfuse project that an environment names; None if it is switched off."""
    if environment.get(SWITCH, "").lower() != "true":
        return None

    def find(*names: str) -> str | None:
        found = (environment.get(prefix + name) for prefix in PREFIXES for name in names)
        return next((value for value in found if value), None)

    public_key, secret_key = find("PUBLIC_KEY"), find("SECRET_KEY")
    if not (public_key and secret_key):
        raise UserError(
            f"`{SWITCH}` is set, but a key is missing",
            "set `LANGFUSE_PUBLIC_KEY` and `LANGFUSE_SECRET_KEY` too",
        )
    return LangfuseProject(find("BASE_URL", "HOST") or CLOUD, public_key, secret_key)


def open_target_folder(folder: Path, project: LangfuseProject) -> Path:
    """Return the folder of a Langfuse project; it is made, and its keys written, at first."""
    name = sha256("\0".join(project).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    own = folder / TARGETS_FOLDER / name
    if not (own / TARGET_FILE).exists():
        for path in (folder, own.parent, own):
            path.mkdir(mode=0o700, parents=path == folder, exist_ok=True)
        draft = own / f"{TARGET_FILE}.{os.getpid()}"
        draft.touch(0o600)
        draft.write_text(json.dumps(project._asdict()), encoding="utf-8")
        draft.replace(own / TARGET_FILE)
    return own


def read_target_file(folder: Path) -> LangfuseProject | None:
    """Return the Langfuse project of a folder; None for the folder of the configured target."""
    try:
        return LangfuseProject(**json.loads((folder / TARGET_FILE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def iter_target_folders(folder: Path) -> Iterator[tuple[Path, LangfuseProject]]:
    """Yield the folders of Langfuse projects that environments have named."""
    for path in sorted((folder / TARGETS_FOLDER).glob("*")):
        if project := read_target_file(path):
            yield path, project
