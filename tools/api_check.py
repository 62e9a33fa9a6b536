"""Check the API of a running server with generated requests: none may fail.

    python -m tools.api_check [SECONDS]

Schemathesis reads the OpenAPI document and makes the questions up. It lives in an environment
of its own under .cache, and a server of the gallery is started for it.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from plait.archive import Archive

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache" / "schemathesis"
VERSION = "4.32.5"
SEED = "7"
CHECKS = (
    "not_a_server_error",
    "response_schema_conformance",
    "content_type_conformance",
    "status_code_conformance",
)
SETTINGS = """
[parameters]
"path.name" = "{name}"
"""


def main() -> None:
    """Ask for so many seconds, half a minute by default."""
    seconds = sys.argv[1] if len(sys.argv) > 1 else "30"
    program = install_program()
    with TemporaryDirectory() as folder:
        env = {**os.environ, **{f"PLAIT_{kind}_DIR": folder for kind in ("STATE", "CACHE")}}
        gallery = str(Path(folder) / "gallery")  # a copy: some questions ask for changes
        shutil.copytree(ROOT / "examples" / "gallery", gallery)
        plait = [sys.executable, "-m", "plait"]
        started = subprocess.run(
            [*plait, "open", "--print-key", "--root", gallery],
            env=env,
            check=True,
            capture_output=True,
            text=True,
        )
        try:
            address = address_of(Path(folder))
            sys.exit(run_questions(program, Path(folder), address, started.stdout.strip(), seconds))
        finally:
            subprocess.run([*plait, "serve", "--stop", "--root", gallery], env=env, check=True)


def install_program() -> Path:
    """Return the program, installed where it is not yet."""
    program = HOME / "bin" / "schemathesis"
    if not program.exists():
        venv.create(HOME, with_pip=True)
        wanted = [f"schemathesis=={VERSION}"]
        subprocess.run([HOME / "bin" / "pip", "install", "--quiet", *wanted], check=True)
    return program


def address_of(state: Path) -> str:
    """Return where the server answers."""
    (path,) = state.glob("serve-*.json")
    result = msgspec.json.decode(path.read_bytes())
    return f"http://{result['host']}:{result['port']}"


def run_questions(program: Path, folder: Path, address: str, key: str, seconds: str) -> int:
    """Run the questions; returns 0 where all were answered well."""
    name = Archive([ROOT / "examples" / "gallery" / "rich-tools"]).sessions[0].id
    settings = folder / "schemathesis.toml"
    settings.write_text(SETTINGS.format(name=name))
    command = [str(program), "--config-file", str(settings), "run"]
    command += [f"{address}/api/v1/openapi.json"]
    command += ["--url", address, "--header", f"Authorization: Bearer {key}"]
    command += ["--checks", ",".join(CHECKS), "--exclude-path", "/api/v1/events"]
    command += ["--phases", "coverage,fuzzing", "--seed", SEED, "--max-time", seconds]
    return subprocess.run(command, check=False, cwd=folder).returncode


if __name__ == "__main__":
    main()
