"""Context rules: what is replaced, and look-alikes that are not.

A case is a text in which guillemets mark what must be hidden: `password: «bl4ck-b1rd»`.
"""

import pytest

from plait.redact import Redactor

ANNOTATED = {
    "a type may stand between a name and its value": 'token: string = "«x9k2m4q7z8»"',
    "with an argument of its own": 'api_token: Final[str] = "«x9k2m4q7z8»"',
    "or a question mark": 'var token: String? = "«x9k2m4q7z8»"',
    "the type alone is none": "token: string = get()",
    "a value in brackets is called": 'password: str = ask("x9k2m4q7z8")',
}
FALLBACKS = {
    "what is taken where the environment has none": "apiKey: process.env.KEY || '«x9k2m4q7z8»'",
    "with the other sign": "apiKey: process.env.KEY ?? '«x9k2m4q7z8»'",
    "behind a comma": "SECRET_KEY = os.getenv('SECRET_KEY', '«x9k2m4q7z8»')",
    "with a word": "password = os.environ.get('PW') or '«x9k2m4q7z8»'",
    "what is no environment has other arguments": "password = fetch('PW') or 'x9k2m4q7z8'",
    "a word is none": "password = os.getenv('PW', 'nothing')",
    "it is assigned only where nothing is": 'ENV["STRIPE_SECRET"] ||= "«x9k2m4q7z8»"',
}
CELLS = {
    "a cell beside the one that names it": "<td>password</td><td>«x9k2m4q7»</td>",
    "a term and what it means": "<dt>Password</dt> <dd>«x9k2m4q7»</dd>",
    "with attributes": '<th>Password</th><td class="v">«x9k2m4q7»</td>',
    "a word is none": "<td>password</td><td>required</td>",
    "a column below its head": "user,password\njoe,«x9k2m4q7»",
    "in the middle": "name,token,role\njoe,«x9k2m4q7»,admin",
    "with a line between": "| user | password |\n|---|---|\n| joe | «x9k2m4q7» |",
    "the other columns stay": "user,password,note\njoe,«x9k2m4q7»,a1b2c3d4",
    "a line of another length ends it": "user,password\njoe,x9k2m4q7,more",
    "in other words": '{"ParameterKey":"DBPassword","ParameterValue":"«x9k2m4q7»"}',
    "as options": "Set-Variable -Name Password -Value '«x9k2m4q7»'",
}
PHRASES = {
    "four words that make no sentence": 'password: "«correct horse battery staple»"',
    "three are enough": 'password: "«correct horse battery»"',
    "two are too few": 'password: "correct horse"',
    "a sentence is none": 'password: "must contain eight letters"',
    "nor is one about secrets": 'password: "copper lantern token meadow"',
    "up to the end of its line": "password: «correct horse battery staple»",
    "not within a sentence": "password: correct horse battery staple is what they say",
    "dashes join them": "password: «correct-horse-battery»",
    "for a key of a lock too": 'api_key: "«correct-horse-battery»"',
    "not for the key of anything": 'app_key: "correct-horse-battery"',
    "unless the environment holds it": "STRIPE_KEY=«correct-horse-battery»",
}
WEAK = {
    "a word and a number behind a word for a password": "the password «monkey38»",
    "not behind another word": "the token monkey38",
    "but in quotes": 'the token "«monkey38»"',
    "behind the name of a setting": "SetEnv DB_TOKEN «monkey38»",
    "in a sentence": "the token is «monkey38»",
    "in a header": "Authorization: token «monkey38»",
    "in the cookie of a session": "Cookie: «sid=monkey38»",
    "not in another cookie": "Cookie: theme=monkey38",
    "in an address": "https://x.com/?token=«monkey38»",
    "not in any parameter": "https://x.com/?hash=monkey38",
    "in a line of code": "{user: joe, password: «monkey38»}",
    "among the settings of a driver": "Server=h;UID=joe;PWD=«monkey38»",
    "the working folder stands alone": "PWD=monkey38",
}
STDIN = {
    "what a code breaks is written too": r"""echo -e "«monkey38»\n«monkey38»" | passwd bob""",
    "again and again": "yes «x9k2m4q7» | passwd bob",
    "in lines behind the command": "sudo -S ls <<EOF\n«x9k2m4q7»\nEOF",
    "not for a program that asks for nothing": "cat <<EOF\nx9k2m4q7\nEOF",
}
BESIDE_NAMES = {
    "a name and a password without brackets": "basic_auth 'joe', '«x9k2m4q7»'",
    "wrapped": '.basic_auth("joe", Some("«x9k2m4q7»"))',
    "of a connection": 'getConnection(url, "joe", "«x9k2m4q7»")',
    "a word is none": "basic_auth 'joe', 'secret'",
}
HEADERS = {
    "a signature": "X-Signature: «x9k2m4q7z8»",
    "with its digest": "X-Hub-Signature-256: sha256=«x9k2m4q7z8»",
    "with a time": "Stripe-Signature: t=1,v1=«x9k2m4q7z8»",
    "a session": "X-Session-Id: «x9k2m4q7z8»",
    "a word is none": "X-Session-Id: required",
    "a network for a camera": "WIFI:S:home;T:WPA;P:«x9k2m4q7»;;",
}
ADDRESSES = {
    "a parameter that ends with a word for a secret": "https://x.com/?mySessionId=«x9k2m4q7»",
    "behind a semicolon": "https://x.com/a;jsessionid=«x9k2m4q7»",
    "another one is none": "https://x.com/?page=x9k2m4q7",
    "the step behind a hook": "https://hooks.x.com/hooks/catch/123/«x9k2m4q7»",
    "the key of a bot": "https://api.telegram.org/bot123456789:«x9k2m4q7z8»/getMe",
    "a private feed": "https://x.com/cal/private-«x9k2m4q7z8»/basic.ics",
    "a word is none": "https://x.com/hooks/documentation",
    "a path without an address is none": "/hooks/x9k2m4q7z8",
}
SENTENCES = {
    "the password of something": "the password of the box is «x9k2m4q7z8»",
    "with a word between": "le mot de passe root est «x9k2m4q7z8»",
    "a word about it tells something else": "the password hash is x9k2m4q7z8",
    "in brackets": "Password (prod): «x9k2m4q7z8»",
    "with an address in quotes": "Password for 'https://joe@github.com': «x9k2m4q7z8»",
    "what was made": "A random password was generated: «x9k2m4q7z8»",
    "what it was before": "changed the password from «x9k2m4q7z8» to another",
    "said behind it": "it's «x9k2m4q7z8», the admin password",
    "in brackets behind it": "I set it to «x9k2m4q7z8» (the password)",
    "behind a dash": "try «x9k2m4q7z8» - that's the admin password",
    "a list of words is no sentence": "x9k2m4q7z8, password, name",
    "a word is none": "it's easy, the admin password",
}
BESIDE_USERS = {
    "any program that is told a user": "frobnicate -u joe -p «x9k2m4q7» list",
    "in another order": "frobnicate -p «x9k2m4q7» -u joe list",
    "with slashes": "frobnicate /u:joe /p:«x9k2m4q7»",
    "without a user it is anything": "frobnicate -p x9k2m4q7 list",
    "a flag is no user": "cp -u -p x9k2m4q7 there",
    "a program is no user": "python -u train.py -p x9k2m4q7",
    "a port is no password": "psql -U joe -p 5432",
    "the same program again is another command": "mysql -h x mysql x -p«x9k2m4q7»",
    "another line is another program": "ls -u joe\nfrobnicate -p x9k2m4q7",
}
MORE = {
    "the next in a list": 'unseal_keys: ["«x9k2m4q7z8»", "«w1v3t5y6u7»"]',
    "the rest on the next line": 'token = "«x9k2m4q7z8»" \\\n    "«w1v3t5y6u7»"',
    "what it became": "changed the password from «x9k2m4q7z8» to «w1v3t5y6u7»",
    "what it may be too": "the password might be '«x9k2m4q7z8»' or '«w1v3t5y6u7»'",
    "the new one": "the old password was «x9k2m4q7z8», new one is «w1v3t5y6u7».",
    "a word beside it is none": 'token = ["«x9k2m4q7z8»", "everything"]',
}
MAIL = {
    "a login to send mail": "334 UGFzc3dvcmQ6\n«M1dIcFhRckNfNHlw»",
    "in one line": "AUTH PLAIN «AGpvZQBtb25rZXkz»",
    "a login to read mail": "a1 LOGIN joe@firm «x9k2m4q7»",
    "what failed is none": "a1 LOGIN joe failed",
    "a hash of a password": "admin:«$apr1$YOx8t4RL$sjQAR3koiA32F23Jlgo7iJ»",
}
TOLD = {
    "a row of words that brings back a purse": "seed phrase: «"
    + " ".join(("silver pepper birch dagger orchid marble quartz nettle " * 2).split()[:12])
    + "»",
    "a sentence is none": "recovery: you can then see what the other one has and use it now too",
    "digits that a card asks for": "my PIN is «631851»",
    "a version is none": "PIN 1.2.3",
    "what opens a net": "wifi: HomeNet, key «x9k2m4q7z8»",
    "in the quotes of another language": "パスワードは「«x9k2m4q7z8»」です",
    "with a letter too few": "the pasword is «x9k2m4q7z8»",
    "crosses stand for something": "TOKEN=XXXX-XXXX-XXXX",
}
NAMELESS = {
    "a name, a word and chance": "«frobnicate_live_x9k2m4q7z8w1v3t5y6u7»",
    "nineteen letters are too few": "frobnicate_live_x9k2m4q7z8w1v3t5y6u",
    "words are none": "frobnicate_live_somethingwithoutanumber",
    "another word is none": "frobnicate_open_x9k2m4q7z8w1v3t5y6u7",
}
TABLES = {
    "beside a user": BESIDE_USERS,
    "more": MORE,
    "mail": MAIL,
    "told": TOLD,
    "nameless": NAMELESS,
    "annotated": ANNOTATED,
    "fallback": FALLBACKS,
    "cell": CELLS,
    "phrase": PHRASES,
    "weak": WEAK,
    "stdin": STDIN,
    "beside a name": BESIDE_NAMES,
    "header": HEADERS,
    "address": ADDRESSES,
    "sentence": SENTENCES,
}
CASES = [
    pytest.param(text, id=f"{table}: {why}")
    for table, cases in TABLES.items()
    for why, text in cases.items()
]


@pytest.mark.parametrize("text", CASES)
def test_only_marked_values_are_replaced(text: str) -> None:
    redactor = Redactor()
    redacted = redactor.text(text.replace("«", "").replace("»", ""))
    for stand_in, value in redactor.key.items():
        if stand_in.startswith("‹secret"):
            redacted = redacted.replace(stand_in, f"«{value}»")
        redacted = redacted.replace(stand_in, value)
    assert redacted == text


def test_last_word_of_a_command_ends_with_its_text() -> None:
    held = {"a": "vault login x9k2m4q7z8", "b": "more"}
    assert Redactor().value(held) == {
        "a": "vault login ‹secret 1: password of a command›",
        "b": "more",
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ID/PW: master / Zqumpm08", "Zqumpm08"),
        ("root@10.3.4.5 (master/Zqumpm08)", "Zqumpm08"),
        ("10.3.4.5 -> master/Zqumpm08", "Zqumpm08"),
        ("비번 Zqumpm08", "Zqumpm08"),
        ("ALTER USER app IDENTIFIED BY clJ4wcd3;", "clJ4wcd3"),
        ('curl -u "f4kZ9mQ2xTa7:" https://api.example.org', "f4kZ9mQ2xTa7"),
        ("the door code is 8368", "8368"),
    ],
)
def test_logins_in_notes_and_commands_are_found(text: str, value: str) -> None:
    assert value not in Redactor().text(text)


@pytest.mark.parametrize(
    "text",
    [
        "--- PASS: TestFormatSize/1.5K_chars (0.00s)",
        "docker build --secret id=npm,src=$HOME/.npmrc .",
        "arn:aws:secretsmanager:us-east-1:aws:secret:name-a1b2c3",
        'curl -u "myusername" http://localhost:15130/api/check_user/',
        "$ echo $TOKEN_NAME\nplain",
        "COPY package.json yarn.lock ./",
        '{"value": "a1b2c3d4e5f6", "name": "commit"}',
    ],
)
def test_text_near_a_secret_stays(text: str) -> None:
    assert Redactor().text(text) == text
