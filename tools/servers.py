"""Install, start and stop trace servers, each in an environment of its own.

They are large, so that nothing but `make test-trace` asks for them. They listen on loopback, keep
what they get in a folder that is thrown away, and tell nobody.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache" / "trace-servers"
PACKAGES = {"phoenix": "arize-phoenix==20.26.1", "mlflow": "mlflow==3.17.2"}
STARTING, STOPPING = 240.0, 20.0
"""Seconds. Both make their database first, which takes a while on a busy machine."""


def install_server(name: str) -> Path:
    """Return the folder of a server's programs; installs it on first use."""
    home = HOME / name
    mark = home / PACKAGES[name].replace("==", "-")
    if not mark.exists():
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([str(uv), "venv", "--quiet", "--clear", str(home)], check=True)
        python = home / "bin" / "python"
        install = [str(uv), "pip", "install", "--quiet", "--python", str(python), PACKAGES[name]]
        subprocess.run(install, check=True)
        mark.touch()
    return home / "bin"


@contextmanager
def phoenix(folder: Path) -> Iterator[str]:
    """Run Arize Phoenix and give its address."""
    port, other = free_port(), free_port()
    settings = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(other),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_ENABLE_PROMETHEUS": "false",
    }
    command = [str(install_server("phoenix") / "phoenix"), "serve"]
    with start_server(command, settings, folder, f"http://127.0.0.1:{port}", "/healthz") as url:
        yield url


@contextmanager
def mlflow(folder: Path) -> Iterator[str]:
    """Run MLflow and give its address."""
    port = free_port()
    command = [str(install_server("mlflow") / "mlflow"), "server", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"]
    settings = {"MLFLOW_DISABLE_TELEMETRY": "true"}
    with start_server(command, settings, folder, f"http://127.0.0.1:{port}", "/health") as url:
        yield url


@contextmanager
def start_server(
    command: list[str], settings: Mapping[str, str], folder: Path, url: str, health: str
) -> Iterator[str]:
    """Run a program until it is no longer needed, and give its address once it answers."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **settings}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_for(url + health, server)
        yield url
    finally:
        stop(server)


def wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    """Wait until a server answers."""
    until = time.monotonic() + STARTING
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(f"no server answers at {url}")


def stop(server: "subprocess.Popen[bytes]") -> None:
    """End a server and what it started: they have a session of their own."""
    import signal

    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, sign)
            server.wait(STOPPING)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    server.wait(STOPPING)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as item:
        item.bind(("127.0.0.1", 0))
        port: int = item.getsockname()[1]
        return port
