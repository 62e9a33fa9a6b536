"""Private keys to the ways in which tools show them."""

import base64
import json
from collections.abc import Callable
from random import Random

from tests.redact.letters import ALNUM, B64, HEX, LOWER, drawn

Lines = list[str]


def _pem(rng: Random, kind: str, head: str = "") -> Lines:
    body = [drawn(rng, B64, 64) for _ in range(6)] + [drawn(rng, B64, 30) + "=="]
    first = head + body[0][len(head) :]
    return [f"-----BEGIN {kind}-----", first, *body[1:], f"-----END {kind}-----"]


def _rsa(rng: Random) -> Lines:
    return _pem(rng, "RSA PRIVATE" + " KEY", "MIIEow" + "IBAAKCAQEA")


def _openssh(rng: Random) -> Lines:
    return _pem(rng, "OPENSSH PRIVATE" + " KEY", "b3BlbnNza" + "C1rZXktdjEA")


def _pkcs8(rng: Random) -> Lines:
    return _pem(rng, "PRIVATE" + " KEY", "MIIEvQIBAD" + "ANBgkqhkiG9w0BAQEF")


def _ec(rng: Random) -> Lines:
    return _pem(rng, "EC PRIVATE" + " KEY", "MHcCAQEE" + "I")


def _encrypted(rng: Random) -> Lines:
    lines = _rsa(rng)
    info = f"DEK-Info: AES-128-CBC,{drawn(rng, HEX, 32).upper()}"
    return [lines[0], "Proc-Type: 4,ENCRYPTED", info, "", *lines[1:]]


def _pgp(rng: Random) -> Lines:
    lines = _pem(rng, "PGP PRIVATE" + " KEY BLOCK", "lQOYB")
    return [lines[0], "Version: GnuPG v2", "", *lines[1:-1], "=" + drawn(rng, B64, 4), lines[-1]]


def _putty(rng: Random) -> Lines:
    public = [drawn(rng, B64, 64) for _ in range(2)]
    private = [drawn(rng, B64, 64) for _ in range(4)]
    return [
        "PuTTY-User-Key-File-3: ssh-rsa",
        "Encryption: none",
        "Comment: ana",
        "Public-Lines: 2",
        *public,
        "Private-Lines: 4",
        *private,
        f"Private-MAC: {drawn(rng, HEX, 64)}",
    ]


KINDS: dict[str, Callable[[Random], Lines]] = {
    "rsa": _rsa,
    "openssh": _openssh,
    "pkcs8": _pkcs8,
    "ec": _ec,
    "encrypted": _encrypted,
    "pgp": _pgp,
    "putty": _putty,
}


def body_of(lines: Lines) -> tuple[str, ...]:
    """Return the lines of a key that must not be left."""
    first = next((n for n, line in enumerate(lines) if line.startswith("Private-Lines")), 0)
    return tuple(line.rstrip("=") for line in lines[first:] if len(line.rstrip("=")) in (30, 64))


def _each(form: str) -> Callable[[Lines], str]:
    def shown(lines: Lines) -> str:
        return "\n".join(form.format(n=n, line=line) for n, line in enumerate(lines, 1))

    return shown


def _hex_dump(lines: Lines) -> str:
    data = ("\n".join(lines) + "\n").encode()
    rows = []
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        pairs = " ".join(row[i : i + 2].hex() for i in range(0, len(row), 2))
        seen = "".join(chr(one) if 32 <= one < 127 else "." for one in row)
        rows.append(f"{start:08x}: {pairs:<39}  {seen}")
    return "\n".join(rows)


def _wrapped_base64(lines: Lines) -> str:
    text = base64.b64encode("\n".join(lines).encode()).decode()
    return "\n".join(text[i : i + 76] for i in range(0, len(text), 76))


SHOWN: dict[str, Callable[[Lines], str]] = {
    "plain": "\n".join,
    "crlf": "\r\n".join,
    "cat -n": _each("{n:>6}\t{line}"),
    "read": _each("{n:>6}→{line}"),
    "file and line": _each("certs/id.key:{n}:{line}"),
    "file and line, context": _each("certs/id.key-{n}-{line}"),
    "line": _each("{n}:{line}"),
    "patch, added": _each("+{line}"),
    "patch, removed": _each("-{line}"),
    "patch of a log": _each("    +{line}"),
    "patch twice": _each("++{line}"),
    "time": _each("2026-11-02T09:00:{n:02}.123Z {line}"),
    "time in brackets": _each("[09:00:{n:02}] {line}"),
    "syslog": _each("Nov  2 09:00:{n:02} web app[12]: {line}"),
    "compose": _each("web_1  | {line}"),
    "level": _each("INFO  [main] - {line}"),
    "slashes": _each("// {line}"),
    "hash": _each("# {line}"),
    "star": _each(" * {line}"),
    "semicolons": _each(";; {line}"),
    "sql comment": _each("-- {line}"),
    "list": _each("- {line}"),
    "quoted": _each("> {line}"),
    "indented": _each("      {line}"),
    "blame": _each("^1a2b3c4 (Ana Lima 2026-11-02 09:00:00 +0100 {n:>3}) {line}"),
    "bat": _each("{n:>4}   │ {line}"),
    "bat with a plus": _each("{n:>4} + │ {line}"),
    "table": _each("│ {line:<72} │"),
    "markdown table": _each("| {line} |"),
    "json parts": lambda lines: json.dumps(lines, indent=2),
    "json parts in a line": json.dumps,
    "code parts": lambda lines: " +\n".join(f'  "{line}\\n"' for line in lines),
    "code parts, no plus": lambda lines: "\n".join(f"  '{line}\\n'" for line in lines),
    "escaped": "\\n".join,
    "escaped twice": "\\\\n".join,
    "in json": lambda lines: json.dumps({"key": "\n".join(lines)}),
    "json in json": lambda lines: json.dumps({"x": json.dumps({"key": "\n".join(lines)})}),
    "one line": " ".join,
    "continued": " \\\n".join,
    "html": "<br>".join,
    "html, escaped": "&#10;".join,
    "percent": "%0A".join,
    "base64": lambda lines: base64.b64encode("\n".join(lines).encode()).decode(),
    "base64, wrapped": _wrapped_base64,
    "hex dump": _hex_dump,
    "hex": lambda lines: "\n".join(lines).encode().hex(),
    "without its head": lambda lines: "\n".join(lines[2:]),
    "without its end": lambda lines: "\n".join(lines[:-2]),
    "in yaml": lambda lines: "key: |\n" + "\n".join(f"  {line}" for line in lines),
    "environment": lambda lines: 'KEY="' + "\n".join(lines) + '"',
    "empty lines": "\n\n".join,
    "colours": _each("\x1b[32m{line}\x1b[0m"),
    "patch in json": lambda lines: json.dumps({"lines": ["+" + line for line in lines]}),
    "tabs": _each("\t\t{line}"),
    "here": lambda lines: "cat > k <<'EOF'\n" + "\n".join(lines) + "\nEOF",
    "narrow": lambda lines: "\n".join(
        line[i : i + 40] for line in lines for i in range(0, max(1, len(line)), 40)
    ),
}
ENCODED = {"base64", "base64, wrapped", "hex", "hex dump"}


def encoded_parts(shown: str, lines: Lines, text: str) -> tuple[str, ...]:
    """Return what must not be left of a key that is written in another way."""
    if shown in ("hex dump", "base64, wrapped"):
        return tuple(row for row in text.splitlines()[8:-4])
    return (text[len(text) // 3 : len(text) // 2],)


def single(rng: Random) -> dict[str, tuple[str, str]]:
    """Return keys of one line: their text and the secret in it."""
    age = "AGE-SECRET-KEY-1" + drawn(rng, LOWER + "0234567", 58).upper()
    guard = drawn(rng, ALNUM + "+/", 42) + "0="
    other = drawn(rng, ALNUM + "+/", 42) + "8="
    return {
        "age": (f"# created: 2026\n{age}\n", age),
        "wireguard": (f"[Interface]\nPrivateKey = {guard}\nAddress = 10.0.0.2/32", guard[:-1]),
        "wireguard, genkey": (f"$ wg genkey\n{other}\n", other[:-1]),
        "jwk": (f'{{"kty":"OKP","crv":"Ed25519","d":"{other[:-1]}","x":"y"}}', other[:-1]),
        "ssh2": (f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{guard}{other}\n", guard[:-1]),
    }
