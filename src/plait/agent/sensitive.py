"""A path to whether programs obey what stands there: such a file is changed only when asked.

Leave to change the files of a project is no leave to have something run: what git, a shell, an
editor or a package manager reads by itself can name programs, and so can the settings of clients.
"""

from pathlib import Path

FOLDERS = frozenset(".cargo .claude .devcontainer .git .husky .idea .vscode .yarn".split())
FILES = frozenset(
    """
    .bash_aliases .bash_login .bash_logout .bash_profile .bashrc .claude.json .envrc .gitconfig
    .gitmodules .mcp.json .npmrc .pre-commit-config.yaml .profile .ripgreprc .yarnrc .yarnrc.yml
    .zlogin .zlogout .zprofile .zshenv .zshrc
    """.split()
)


def is_sensitive(path: Path) -> bool:
    """Tells whether a file may have something run; on some disks case makes no difference."""
    *folders, name = (part.casefold() for part in path.parts)
    return name in FILES or name in FOLDERS or not FOLDERS.isdisjoint(folders)
