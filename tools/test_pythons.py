"""Run tests with every supported Python that is on this machine, and say which ran.

python -m tools.test_pythons             the tests of lines, records, graphs and everyday commands
python -m tools.test_pythons tests       other tests
python -m tools.test_pythons --here      only the Python that runs this

Interpreters are looked for on the path, in pyenv's folder and among those of uv. Each gets an
environment of its own in .cache/pythons, without what only browsers, lakes and linters need.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HEAVY = """axe-playwright-python deltalake duckdb flask flask-cors import-linter moto mypy orjson
    playwright pyarrow ray ruff""".split()
COMMANDS = "commands completion config demo edit export keep search self_check settings show usage"
TESTS = ["tests/line", "tests/record", "tests/graph", "tests/packaging"]
TESTS += [f"tests/cli/test_{name}.py" for name in COMMANDS.split()]
NEEDS_HEAVY = [f"tests/cli/test_lake_{part}.py" for part in ("asking", "building", "ship")]
LANGUAGE = "Programming Language :: Python :: 3."
ASK = "import sys; print('.'.join(map(str, sys.version_info[:3])))"


def list_supported() -> list[str]:
    """Return the versions that the project says it runs on."""
    return [
        f"3.{name.removeprefix(LANGUAGE)}"
        for name in PROJECT["classifiers"]
        if name.startswith(LANGUAGE)
    ]


def find_pythons(version: str) -> Iterator[Path]:
    """Yield the places where an interpreter of a version may be."""
    if version == ".".join(map(str, sys.version_info[:2])):
        yield Path(sys.executable)
    if found := shutil.which(f"python{version}"):
        yield Path(found)
    folders = {Path("/usr/bin"), Path("/usr/local/bin"), Path("/opt/homebrew/bin")}
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    folders |= {folder / "bin" for folder in pyenv.glob(f"{version}*")}
    shared = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share", "uv")
    folders |= {folder / "bin" for folder in shared.glob(f"python/*-{version}*")}
    for folder in sorted(folders, reverse=True):
        yield folder / f"python{version}"


def ask_version(python: Path) -> str | None:
    """Return the version of an interpreter, None if it does not run."""
    try:
        done = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def prepare(python: Path, version: str) -> Path:
    """Return the interpreter of an environment with Plait and what the tests need."""
    folder = ROOT / ".cache" / "pythons" / version
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not inside.exists():
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    light = [
        name
        for name in PROJECT["optional-dependencies"]["dev"]
        if re.split(r"[^\w-]", name, maxsplit=1)[0] not in HEAVY
    ]
    install = [str(inside), "-m", "pip", "install", "--quiet", "--constraint", "constraints.txt"]
    subprocess.run([*install, *light, "--editable", "."], cwd=ROOT, check=True)
    return inside


def run_tests(python: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Return the exit code and the last line of a run."""
    left_out = [f"--ignore={name}" for name in NEEDS_HEAVY]
    command = [str(python), "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", *tests, *left_out]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.strip()] or [done.stderr[-300:]]
    if done.returncode:
        print(*lines[-60:], sep="\n")
    return done.returncode, lines[-1]


def main(arguments: Sequence[str]) -> int:
    """Run the tests and print a table; return 1 if some failed."""
    is_here = "--here" in arguments
    tests = [name for name in arguments if not name.startswith("-")] or TESTS
    here = ".".join(map(str, sys.version_info[:2]))
    rows, failed = [], False
    for version in [here] if is_here else list_supported():
        numbers = ((place, ask_version(place)) for place in find_pythons(version))
        python, number = next(
            ((place, number) for place, number in numbers if number and number.startswith(version)),
            (None, None),
        )
        if python is None or number is None:
            rows.append((version, "not on this machine"))
            continue
        code, line = run_tests(prepare(python, number), tests)
        failed |= code != 0
        rows.append((number, line))
        print(f"{number}: {line}", flush=True)
    print("\nPython   result")
    for name, result in rows:
        print(f"{name:8} {result}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
