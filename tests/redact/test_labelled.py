"""Values after labels, in every wrapping: shapes x wrappings x alphabets."""

import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote

import pytest

from plait.redact import Redactor

SECRETS = {
    "toml": ('key_password = "{}"', "U1 1|Zicq#r9zK<"),
    "json": ('"SigningKey": "{}",', "1jSx<:U2QuN8"),
    "tag": ("<passphrase>{}</passphrase>", "umber yarrow hollow garnet"),
    "block": (
        "signing_key: |\n  {}\nreplicas: 2",
        "4Pe9aSMrxz0E9EcObnU06JfzAMULCGe1JUVhiDACwtX4lx9y",
    ),
    "kind": ("- name: WEBHOOK_KEY\n  value: {}", "jSQBhk065(qY|b6K6Z"),
    "table": ("login\tpassword\tnote\nadmin\t{}\track 4", "9&uM5S~orY&D"),
    "row": ("| Login | Hasło |\n|:--|:--|\n| admin | {} |", "n1HAm.n-kXDun4"),
    "pairs": ("logins on that box: root/{}", "Vw1Am^8Mor15"),
    "hash": ("chef {}", "$2b$10$oouqWQwUe.SaEKO4B0BRtpUXaGFCOPReppgeHbQD8hOz.fIV5Ff40"),
    "language": ("Mot de passe : {}", "jasper5459juniper"),
    "below": ("Wachtwoord:\n\n    {}\n", "Brille_1803"),
    "words": ("unlock_phrase =\n    {}\nmode = auto", "pelmeni lasagna rutabaga"),
}
PERSONAL = {
    "birth": ("fecha de nacimiento: {}", "16/06/1953"),
    "place": ('{{"latitude": {}, "x": 1}}', "57.02933"),
    "document": ("passport no. {}, issued 2019", "C3G394131"),
    "name": ("pracownik: {}", "Anjali Deshpandekar"),
    "closing": ("Met vriendelijke groet,\n{}", "Chandrika Muthukrishna"),
    "address": ("Anschrift: Lindenstraße 56, {}", "70553 Neuruppin"),
    "device": ("AirDrop: found {}", "Philippa’s iPhone"),
    "cells": ("imie;nazwisko;miasto\nYusuf;{};Olsztyn", "Hallgrimsen"),
}
HARMLESS = (
    "--- PASS: TestExportCmd_Flags (0.00s)",
    "Use the secret manager as the source of truth.",
    "postgres://<user>:<password>@localhost:5432/db",
    "arn:aws:secretsmanager:us-east-1:aws:secret:name-a1b2c3",
    'const STORAGE_KEY = "claude-history-controls-state";',
    '"cache_creation_input_tokens": 41234, "output_tokens": 12',
    "password = get_password(user)",
    "bypass: abc?1def",
    "onToken={handleToken}",
    'placeholder="Enter your password"',
    "position: 0.5, 0.25",
    "token_hash: 5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
)
WRAPPINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "read": lambda text: "\n".join(f"{n:>6}→{line}" for n, line in enumerate(text.split("\n"), 38)),
    "cat": lambda text: "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(text.split("\n"), 1)),
    "patch": lambda text: "@@ -1,2 +1,2 @@\n" + "\n".join(f"+{line}" for line in text.split("\n")),
    "quoted": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "comment": lambda text: "\n".join(f"// {line}" for line in text.split("\n")),
    "log": lambda text: "\n".join(
        f"Jan 06 14:00:09 host kiosk[881]: {line}" for line in text.split("\n")
    ),
    "json": lambda text: json.dumps({"stdout": text}),
    "json twice": lambda text: json.dumps({"content": json.dumps({"stdout": text})}),
    "entities": lambda text: html.escape(text),
    "percent": lambda text: "body=" + quote(text),
    "ansi": lambda text: "\n".join(f"\x1b[38;5;39m{line}\x1b[0m" for line in text.split("\n")),
    "returns": lambda text: text.replace("\n", "\r\n") + "\r\n",
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_labels_lead_to_values_in_every_wrapping(wrapping: str) -> None:
    missed = []
    for name, (shape, value) in (SECRETS | PERSONAL).items():
        redacted = Redactor().text(WRAPPINGS[wrapping](shape.format(value)))
        longest = max(re.findall("[A-Za-z0-9]+", value), key=len)
        if longest in redacted:
            missed.append((name, redacted))
    assert missed == []


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_what_only_resembles_a_labelled_value_stays(wrapping: str) -> None:
    texts = [WRAPPINGS[wrapping](text) for text in HARMLESS]
    assert [Redactor().text(text) for text in texts] == texts
