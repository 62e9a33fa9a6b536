"""Values next to a secret whose own name says that they are none stay."""

import pytest

from plait.redact import redact

CASES = (
    (
        "login failed user=ann password=hY7!kd02Lq ip=10.1.2.3 trace={}",
        "7c1f5c2e8e2be2cb37f440f1b2",
    ),
    ('"DB_PASSWORD=hY7!kd02Lq7zQ",\n    "APP_VERSION={}"', "12.4.1"),
    (
        '{{"type":"tool_result","tool_use_id":"{}","content":"secret"}}',
        "toolu_01yCUIpxBOs3FNETg4T8",
    ),
    ("[user]\n\temail = x@y.de\n\tsigningkey = {}\n", "5A2C77E1B04D83A5"),
    ('cat vault/prod/credential"\n{} (Bo Tan 2022-04-05  11) x = 1', "1015b4c1"),
    ("To: ops@acme-tools.io\nMessage-ID: <{}>", "20240318101522.GA4921@mail.gmail.com"),
    ("Bug reports go to {}", "bugs@example.org"),
)


@pytest.mark.parametrize(("text", "value"), CASES, ids=[value for _, value in CASES])
def test_values_with_a_harmless_name_stay(text: str, value: str) -> None:
    assert value in redact(text.format(value))


def test_a_password_that_contains_a_sign_of_assignment_goes() -> None:
    assert "trace=hY7kd02Lq" not in redact("password: trace=hY7kd02Lq")
    assert "version=9kQ2!x" not in redact("the password is version=9kQ2!x")
