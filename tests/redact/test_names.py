"""Names of people, their addresses, and passwords announced by sentences."""

import json
from collections.abc import Callable

import pytest

from plait.redact import Redactor

SHOWN: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "numbered": lambda text: "\n".join(
        f"    {n}→{line}" for n, line in enumerate(text.split("\n"), 7)
    ),
    "json": lambda text: json.dumps({"text": text}, ensure_ascii=False),
    "patch": lambda text: "\n".join(f"+{line}" for line in text.split("\n")),
}


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("Hallo Herr Nyström,\n\nanbei das Protokoll.", "Nyström"),
        ("Dear Mrs. Castellanos,", "Castellanos"),
        ("Hi Zoë,\n\ncould you have a look?", "Zoë"),
        ("Thanks, Zoë", "Zoë"),
        ("patient: Okonkwo, Zoë, born 1971", "Okonkwo, Zoë"),
        ("call Zoë: +49 171 2223344", "Zoë"),
        ("zoeo:x:1000:1000:Zoë Okonkwo,,,:/home/zoeo:/bin/sh", "Zoë Okonkwo"),
        ("a1b2c3d4 (Łukasz Nyström 2026-03-02 11:04:17 +0100  41) x = 1", "Łukasz Nyström"),
        ("ask Zoë about it (zoe.o@kessel-it.de)", "Zoë"),
        ("owners: Zoë Okonkwo, Bjørn Castellanos", "Bjørn Castellanos"),
        ("ships to 12 rue de la Fontaine", "12 rue de la Fontaine"),
        ("ships to Rue des Lilas 12", "Rue des Lilas 12"),
        ("wir wohnen Kärntner Straße 38", "Kärntner Straße 38"),
        ("address: Große Bleichen 12", "Große Bleichen 12"),
        ("Accepted publickey for korhan from 178.67.54.212 port 51234 ssh2", "korhan"),
        ("backup codes for the account:\n  k7dj2-x9wqp\n  m3nv8-t5rzb", "m3nv8-t5rzb"),
        ("the login on the box is root / lantern7copper , thanks", "lantern7copper"),
        ("log into the staging admin with ops@kessel-it.de and Copper_77x", "Copper_77x"),
        ("Passwort: LanternCopperPebble41", "LanternCopperPebble41"),
        ('Die Passphrase lautet "lantern copper pebble orchid".', "lantern copper pebble orchid"),
        ("Server=db.local;User ID=sa;Password=Kiosk&Butter7;Encrypt=True;", "Kiosk&Butter7"),
        ("$ vault kv get -field=password secret/app\n@R=@kXQPMab+cdw_", "@R=@kXQPMab+cdw_"),
    ],
)
def test_value_is_found_in_any_form(text: str, gone: str, shown: str) -> None:
    assert gone not in Redactor().text(SHOWN[shown](text))


@pytest.mark.parametrize(
    "text",
    [
        "Hello World, this is the first program",
        "Hi there, thanks for the report",
        "Thanks, Monday works",
        "owner: Platform Team",
        "maintained by Red Hat",
        "it will be reported to train under the same name",
        "- `displayName: Entire`",
        "address: 127.0.0.1:8080",
        "Via Python 3",
        "the recovery codes page:\n  read-only",
        "Support <support@>",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert Redactor().text(text) == text


def test_program_between_different_quotes_is_no_command() -> None:
    text = """'curl","a" in a table"""
    assert Redactor().text(text) == text
