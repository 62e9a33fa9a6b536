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
    "plain word": ("retries: 3\ndb_password: {}\nport: 1", "quayside"),
    "quoted word": ("set(password='{}')", "gooseberry"),
    "brackets": ("smtp_password = '{}'", "{kelp}[873]!"),
    "phrase": ('psk = "{}"', "Harbour teapot 41!"),
    "prompt": ("Enter passphrase for /dev/sdc2: {}", "Copper kettle 92 wharf"),
    "sentence": ("the token of the old runner ({}) leaked", "Xk4!vPq9_Rt2w"),
    "login": ("connecte-toi en root avec {} et relance", "Vb7%kLm2_Qz"),
    "arguments": ("conn = database('lab', 'reader', '{}');", "HarbourGull2417"),
    "file": ("$ cat /etc/vpn/auth.txt\nbranch\n{}\n", "Mq8$Tz!pLw2"),
    "recovery": ("Numerical Password:\n    {}", "-".join(f"{n}17{n}" for n in range(12, 20))),
    "product": ("Serial: {}", "Q7RT2-9KMN4-PW3XZ-6HJV8-B5CDF"),
    "named key": ('decryptionKey="{}"', "9F3C61D20B7E48A5" + "C60D1B9E7F2A3548" + "7E21AD90"),
    "words": ("unlock_phrase =\n    {}\nmode = auto", "pelmeni lasagna rutabaga"),
}
PERSONAL = {
    "birth": ("fecha de nacimiento: {}", "16/06/1953"),
    "place": ('{{"latitude": {}, "x": 1}}', "57.02933"),
    "document": ("passport no. {}, issued 2019", "C3G394131"),
    "name": ("pracownik: {}", "Anjali Deshpandekar"),
    "closing": ("Met vriendelijke groet,\n{}", "Chandrika Muthukrishna"),
    "address": ("Anschrift: Lindenstraße 56, {}", "70553 Neuruppin"),
    "given name": ("Ask {} for a review", "Wojciech Halbersma"),
    "register": ('"DefaultUserName"="{}"', "oleksandrkova"),
    "proxy": ("https_proxy=http://{}:Ab%403xq@proxy.corp.test:8080", "kowalkat"),
    "machine": ("b06cb060 02:00:03 {}", "annelieses-desktop"),
    "card": ("BEGIN:VCARD\nADR;TYPE=HOME:;;Quay 8;{};;54841;\nEND:VCARD", "Freising"),
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
    "login(email: String!, password: String!): Session!",
    "token deployed to: 0x0a3435c88f141dc28bc1538e88a9a081cd222faa",
    "password: ENC[AES256_GCM,data:FDcvDcRCw3cK0Ewi,iv:n6ZVp9pA9l8GJn97,type:str]",
    "PublicKey = 9TkfVINVF5iHfkc4cT3J6GB30Rog86/g78cVpqerLZQ=",
    "login.password.label=Your password\nlogin.password.forgot=Forgot your password?",
    "Serial Number:\n    04:0d:8f:8d:ba:bd:eb:f9",
    'cle_api: "Clé d\'API (rév. 244)"',
    "const password = userPassword;",
    'tar.add(name="blkdev")',
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
    "terminal": lambda text: "\n".join(
        line[at : at + 64] for line in text.split("\n") for at in range(0, len(line) or 1, 64)
    ),
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
