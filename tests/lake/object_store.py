"""An S3 server on loopback for lakes in a bucket."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from uuid import uuid4
from xml.etree import ElementTree

BUCKET = "team"
# Not a thread of this process: Arrow's Python files hold the lock that the server would need.
SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=ann/20261101/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=none"
)


class ObjectStore:
    """A bucket of an S3 server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.options = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "ann",
            "AWS_SECRET_ACCESS_KEY": "hush",
            "AWS_REGION": "us-east-1",
        }
        self.ask("PUT", "")

    def new_url(self) -> str:
        """Return an address below which nothing lies."""
        return f"s3://{BUCKET}/{uuid4().hex[:8]}/lake"

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Ask for an object, or for what is said of it."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": SIGNED, "Content-Type": "application/octet-stream"}
        connection.request(method, f"/{BUCKET}{path}", body, headers)
        answer = connection.getresponse()
        found = answer.read()
        connection.close()
        assert answer.status < 300, found
        return found

    def keys(self, url: str) -> set[str]:
        """Return the objects below an address, from there on."""
        prefix = url.removeprefix(f"s3://{BUCKET}/") + "/"
        found = ElementTree.fromstring(self.ask("GET", f"?list-type=2&prefix={prefix}"))
        return {
            (one.text or "").removeprefix(prefix)
            for one in found.iter()
            if one.tag.endswith("}Key")
        }

    @contextmanager
    def denied(self, action: str, url: str) -> Iterator[None]:
        """Let nobody do something below an address."""
        rule = {
            "Effect": "Deny",
            "Principal": "*",
            "Action": action,
            "Resource": f"arn:aws:s3:::{url.removeprefix('s3://')}/*",
        }
        policy = {"Version": "2012-10-17", "Statement": [rule]}
        self.ask("PUT", "?policy", json.dumps(policy).encode())
        try:
            yield
        finally:
            self.ask("DELETE", "?policy")


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Run a server with one bucket."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout
    try:
        yield ObjectStore(_port(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.kill()
        process.wait(10)
        process.stdout.close()


def _port(line: bytes) -> int:
    assert line.strip().isdigit(), "the server did not come up"
    return int(line)
