"""Personal names and numbers, by form and from the machine."""

import json
from pathlib import Path

import pytest

from plait.record import parse_record
from plait.redact import Redactor, Rules, add_own_names, redact

TOLD = [
    # what a listing, a prompt or a command tells of a user
    ("-rw-r--r--  1 wojtek  staff  12 Jan  1 10:00 a", "wojtek"),
    ("drwxr-xr-x 5 root wojtek 4096 Nov 15 10:00 .", "wojtek"),
    ("uid=1000(wojtek) gid=1000(wojtek) groups=27(sudo)", "wojtek"),
    ("groups=1000(x),1001(wojtek)", "wojtek"),
    ("$ whoami\nwojtek\n", "wojtek"),
    ("wojtek:x:1000:1000::/:/bin/sh", "wojtek"),
    ("wojtek ALL=(ALL) NOPASSWD: ALL", "wojtek"),
    ("wojtek   pts/0   2026-11-15 10:00", "wojtek"),
    ("wojtek  4711  0.0  0.1  12345 99 ? S", "wojtek"),
    ("chown -R wojtek:wojtek build", "wojtek"),
    ("sudo -u wojtek ls", "wojtek"),
    ("su - wojtek", "wojtek"),
    ("USERNAME=wojtek", "wojtek"),
    ('{"user": "wojtek"}', "wojtek"),
    ("Login: wojtek", "wojtek"),
    ("Author: Wojtek Nowak <w@nowak.pl>", "Wojtek Nowak"),
    ("git config user.name 'Wojtek Nowak'", "Wojtek Nowak"),
    ("/var/mail/wojtek", "wojtek"),
    ("cd -home-wojtek-src-x", "wojtek"),
    ("mysql --user=wojtek shop", "wojtek"),
    ("/home/CORP/wojtek/x", "wojtek"),
    ("D:\\Benutzer\\wojtek\\x", "wojtek"),
    ("C:\\Documents and Settings\\wojtek\\x", "wojtek"),
    ("wojtek at mac in ~/web", "wojtek"),
    ("User wojtek\n  IdentityFile ~/.ssh/x", "wojtek"),
    ('FATAL: no entry for user "wojtek" has been found', "wojtek"),
    ("arn:aws:iam::123456789012:user/wojtek", "wojtek"),
    ("[Service]\nUser=wojtek", "wojtek"),
    ("Default principal: wojtek@CORP.LOCAL", "wojtek"),
    ("my username is wojtek42", "wojtek42"),
    ("net use Z: /user:CORP\\wojtek", "wojtek"),
    ("psql -h db -U wojtek42 shop", "wojtek42"),
    ('"assignee": "wojtek42"', "wojtek42"),
    ("author Wojtek Nowak <w@nowak.pl> 1700000000 +0100", "Wojtek Nowak"),
    ("   42  Wojtek Nowak <w@nowak.pl>", "Wojtek Nowak"),
    ('GIT_AUTHOR_NAME="Wojtek Nowak"', "Wojtek Nowak"),
    ("[user]\n\tname = Wojtek Nowak", "Wojtek Nowak"),
    ("^3f2a91c (Wojtek Nowak 2024-01-02 10:00:00 +0100 1) x", "Wojtek Nowak"),
    ('"fullName": "Wojtek Nowak"', "Wojtek Nowak"),
    ('{"name": "Wojtek Nowak", "email": "w@nowak.pl"}', "Wojtek Nowak"),
    ("x:x:1000:1000:Wojtek Nowak,,,:/:/bin/sh", "Wojtek Nowak"),
    # machines
    ("Server=buildbox7\\SQLEXPRESS;Database=x", "buildbox7"),
    ('up{instance="buildbox7:9100"}', "buildbox7"),
    ("64 bytes from 2a02:d3a4:a40e:6e03:a8ea:7ae5:2e4b:e6e3: icmp", "2a02:d3a4:a40e:6e03"),
    # numbers
    ("ring me on 07822 197320", "07822 197320"),
    ("PESEL: 98112839328", "98112839328"),
    ("NIF 54190108S", "54190108S"),
    ("s3://logs-735515480513-eu-west-1/", "735515480513"),
    ("HOSTNAME=buildbox7", "buildbox7"),
    ("$ hostname\nbuildbox7", "buildbox7"),
    ("ping nas.local", "nas.local"),
    ("inet 10.23.45.67/24", "10.23.45.67"),
    ("ssh root@84.173.22.9", "84.173.22.9"),
    ("ping 10.2.3.4", "10.2.3.4"),
    ("inet6 fe80::a00:27ff:fe4e:66a1/64", "fe80::a00:27ff:fe4e:66a1"),
    (
        "from 2a02:8109:9a40:1f3c:5d2e:1a2b:3c4d:5e6f port 22",
        "2a02:8109:9a40:1f3c:5d2e:1a2b:3c4d:5e6f",
    ),
    ("ether 3c:22:fb:91:0a:7e", "3c:22:fb:91:0a:7e"),
    # addresses of people
    ("Ship it to Lindenallee 7a, 10115 Berlin", "Lindenallee 7a"),
    ("He lives at 221 Maple Avenue.", "221 Maple Avenue"),
    ("48 rue Oberkampf, Paris", "48 rue Oberkampf"),
    ("contact: ada [dot] byron [at] firm [dot] org", "byron [at] firm"),
    # names of people in settings and tables
    ("first_name: Wanda\nlast_name: x", "Wanda"),
    ("User(first_name='Wanda', age=3)", "Wanda"),
    (" * @author Wanda Nowak", "Wanda Nowak"),
    ("id,name,email\n1,Wanda Nowak,wanda@firm.org", "Wanda Nowak"),
    # telephones
    ("call me: +49 171 2345678", "+49 171 2345678"),
    ("reach (415) 555-2671 today", "(415) 555-2671"),
    ("or 415-555-2671.", "415-555-2671"),
    ("Telefon: 0171/2345678", "0171/2345678"),
    # accounts
    ("pay to DE89 3704 0044 0532 0130 00 now", "DE89 3704 0044 0532 0130 00"),
    ("4111 1111 1111 1111", "4111 1111 1111 1111"),
    ("card number: 378282246310005", "378282246310005"),
    ("SSN 219-09-9999", "219-09-9999"),
    ("CPF 529.982.247-25", "529.982.247-25"),
    ("account id 987600001234", "987600001234"),
    ("987600001234.dkr.ecr.eu-west-1.amazonaws.com", "987600001234"),
    ("https://sqs.eu-west-1.amazonaws.com/987600001234/q", "987600001234"),
    (
        "/subscriptions/3f1c2a9e-0b7d-4c55-9a54-1c9d0e8f7a6b/x",
        "3f1c2a9e-0b7d-4c55-9a54-1c9d0e8f7a6b",
    ),
]
UNTOLD = [
    "User guide\n  Part one",
    "firstName: String\nlastName: Optional[str]",
    "| name | email |\n|---|---|\n| Build Service | x |",
    "Owner: Platform Team\nName: Build Service",
    "0 3 * * * certbot renew",
    "https://news.example/u/top/new",
    "/home/a/projects/x",
    "import { At } from '@scope/at' [at] line 3",
    'the "user" is not told',
    "User=root\n",
    "my username is root",
    "psql -h db -U app shop",
    '"owner": "docs"',
    "author The Team Bot <bot@firm.test> 1700000000",
    "Server=localhost;Database=x",
    "UID 1000 is used",
    "VAT is 19 percent",
    "logs-2026-eu-west-1",
    "-rw-r--r-- 1 root staff 12 Jan 1 10:00 a",
    "drwxr-xr-x 2 www-data docker 4096 Nov 15 10:00 .",
    "uid=0(root) gid=0(root)",
    "sudo apt install jq",
    "sudo make install",
    "user: string",
    "username: Optional[str]",
    "user.name = request.name",
    "USER=$USER",
    r"unicode: \\\\u4e2d\\\\u6587",
    "password, username = creds",
    "login successful",
    "pip install --user requests",
    "Co-Authored-By: Claude <noreply@anthropic.com>",
    "Author: dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
    "hostname: localhost",
    "version 10.2.3.4",
    "Chrome/99.0.0.0",
    "pkg==1.2.3.40",
    "2.1.0.3",
    "127.0.0.1:8080 and 0.0.0.0",
    "mask 255.255.255.0",
    "192.0.2.17 is for books",
    "10.2.3.400",
    "1.10.23.45.67",
    "10.23.45.67-rc1",
    "std::vec::Vec a::b",
    "2001:db8::17 is for books",
    "12:30:45",
    "::1",
    "00:00:00:00:00:00",
    "+1234567890 as a line of a patch",
    "2026-11-15",
    "phone 2026-11-15",
    "call 12345678 times",
    "telephone booth 12",
    "DE89 3704 0044 0532 0130 01",
    "4111 1111 1111 1112",
    "000-12-3456",
    "1219-09-9999",
    "id 987600001234",
]


@pytest.mark.parametrize(("text", "value"), TOLD)
def test_personal_data_is_replaced(text: str, value: str) -> None:
    assert value not in redact(text)


@pytest.mark.parametrize(("text", "value"), TOLD)
def test_records_and_text_agree(text: str, value: str) -> None:
    line = json.dumps({"type": "user", "uuid": "u1", "message": {"role": "user", "content": text}})
    record = Redactor().record(parse_record(line.encode()))
    assert json.loads(record.raw)["message"]["content"] == redact(text)


@pytest.mark.parametrize("text", UNTOLD)
def test_look_alikes_stay(text: str) -> None:
    assert redact(text) == text


def test_bare_numbers_stay() -> None:
    line = b'{"type":"user","uuid":"u1","account_id":987600001234}'
    assert Redactor().record(parse_record(line)).raw == line


def test_machine_owner_is_known(tmp_path: Path) -> None:
    home = tmp_path / "wojtek"
    home.mkdir()
    (home / ".gitconfig").write_text(
        '[core]\n\tname = kernel\n[user]\n\tname = "Ada Byron" ; hers\n\temail = ada@byron.org\n'
    )
    rules = add_own_names(Rules(), home, "turing9.example")
    text = "kernel: Ada Byron (wojtek, ada@byron.org) on turing9 and turing9.example"
    assert redact(text, rules) == "kernel: ‹user 1› (‹user 2›, ‹email 1›) on ‹host 1› and ‹host 2›"


def test_common_user_names_are_not_used(tmp_path: Path) -> None:
    rules = add_own_names(Rules(), tmp_path / "nobody", "localhost")
    assert redact("nobody at localhost", rules) == "nobody at localhost"


def test_machine_names_belong_to_their_group(tmp_path: Path) -> None:
    rules = add_own_names(Rules(off=("paths",)), tmp_path / "wojtek", "turing9")
    assert redact("wojtek on turing9", rules) == "wojtek on ‹host 1›"
