"""Workflows, container file and versions agree with the project."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tools.test_pythons import list_supported

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = ROOT / "Containerfile"
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    text = CONTAINER.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def test_container_serves_without_privileges() -> None:
    steps = instructions()
    last_stage = steps[max(at for at, (name, _) in enumerate(steps) if name == "FROM") :]
    given = dict(last_stage)
    assert int(given["USER"]) > 0
    assert given["ENTRYPOINT"] == '["plait"]'
    assert "--read-only" in given["CMD"]
    assert "PLAIT_ROOT=/logs" in given["ENV"]
    assert [name for name, _ in last_stage if name == "ADD"] == []
    assert all(":latest" not in rest and ":" in rest for name, rest in steps if name == "FROM")


def test_hadolint_passes() -> None:
    if shutil.which("hadolint") is None:
        pytest.skip("needs hadolint: `make dist` installs it")
    subprocess.run(["hadolint", CONTAINER], check=True)


def test_workflow_runs_the_make_targets_on_every_version() -> None:
    targets = set(re.findall(r"run: make ([\w-]+)", WORKFLOW))
    assert {"check", "dist", "docs", "test"} <= targets
    assert targets <= set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))
    (matrix,) = re.findall(r"python: (\[.*\])", WORKFLOW)
    assert re.findall(r"[\d.]+", matrix) == list_supported()
    for system in ("ubuntu", "macos", "windows"):
        assert f"{system}-latest" in WORKFLOW


def test_minimum_python_is_consistent() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    first = list_supported()[0]
    assert project["project"]["requires-python"] == f">={first}"
    assert project["tool"]["mypy"]["python_version"] == first
    assert project["tool"]["ruff"]["target-version"] == f"py{first.replace('.', '')}"


def test_every_target_of_make_is_declared() -> None:
    (declared,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert set(declared.split()) == set(re.findall(r"^([a-z][\w-]*):", MAKEFILE, re.MULTILINE))


def test_each_package_has_one_version() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    names = [line.partition("==")[0] for line in lines if not line.startswith("#")]
    assert len(names) == len(set(names))
