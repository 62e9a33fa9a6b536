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
    ("arn:aws:iam::210987654321:user/wojtek", "wojtek"),
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
    # accounts next to their passwords
    ("user: halszkaw\npass: x", "halszkaw"),
    ('<add key="Username" value="halszkaw" /><add key="Password" value="x" />', "halszkaw"),
    ("<Key>UserName</Key><Value>halszkaw</Value> <Key>Password</Key>", "halszkaw"),
    ("d-i passwd/username string halszkaw", "halszkaw"),
    ("machine a.b login halszkaw password x", "halszkaw"),
    ("https://halszkaw:x7K2pQ9vLm4T@git.firm.org/r.git", "halszkaw"),
    ("nazwa użytkownika: halszkaw\nhasło: x", "halszkaw"),
    ("curl -u wanda@firm.org:x7K2pQ9vLm4T https://a.b", "wanda@firm.org"),
    ("user;pass;role\nhalszka.w;x7K2pQ9vLm4T;admin\n", "halszka.w"),
    ("dn: uid=halszkaw,ou=people,dc=x", "halszkaw"),
    ("halszkaw:$6$IjaXKrHV$k9vh4dyH2EaoA46trjc5DS8:19811:0:99999:7:::", "halszkaw"),
    ('halszkaw : EAP "x7K2pQ9vLm4T"', "halszkaw"),
    ("halszkaw  1377  0.0  0.0 grep x", "halszkaw"),
    ("sudo smbpasswd -a halszkaw", "halszkaw"),
    ("Logged in to github.com account halszkaw (keyring)", "halszkaw"),
    ("# crontab for halszkaw", "halszkaw"),
    ("PID   USER      COMMAND\n4711  halszkaw  vim\n", "halszkaw"),
    # people in sentences, letters and records
    ("could you ask Wanda Nowak for a review?", "Wanda Nowak"),
    ("# rotated 2024-02-03 by Wanda Nowak", "Wanda Nowak"),
    ("Thanks to Wanda Nowak for the report", "Wanda Nowak"),
    ("On Monday, Wanda Nowak wrote:\n> x", "Wanda Nowak"),
    ("Wanda Nowak  10:14 AM\nhello", "Wanda Nowak"),
    ("Wanda Nowak added a comment - yesterday", "Wanda Nowak"),
    ('"Apple Development: Wanda Nowak (9XK27QWM4T)"', "Wanda Nowak"),
    ("PID|1||4^^^X||Nowak^Wanda||19710402", "Nowak^Wanda"),
    ("BEGIN:VCARD\nN:Nowak;Wanda;;;\nEND:VCARD", "Nowak;Wanda"),
    ("BEGIN:VCARD\nADR;TYPE=HOME:;;Long Lane 9;Ely;;54841;\nEND:VCARD", "Long Lane 9"),
    ("registered to: Wanda Nowak", "Wanda Nowak"),
    ("<RegisteredOwner>Wanda Nowak</RegisteredOwner>", "Wanda Nowak"),
    ("TO:   Wanda Nowak\n      x", "Wanda Nowak"),
    ('-dname "CN=Wanda Nowak, L=Rouen, C=FR"', "Wanda Nowak"),
    ("<Dbtr><Nm>Wanda Nowak</Nm></Dbtr><IBAN>x</IBAN>", "Wanda Nowak"),
    ("Maintainer: Wanda Nowak wanda at firm dot org", "Wanda Nowak"),
    ("reach wanda at firm dot org", "wanda at firm"),
    ("Wanda Nowak\nBirkenweg 12\n54321 Trier", "Wanda Nowak"),
    ("Wanda Nowak<br>Maple Avenue 12<br>54321 Trier", "Maple Avenue 12"),
    ("<Name>x</Name><Street>Quarry Hill 77</Street><City>Gdynia</City>", "Gdynia"),
    ("mam na imię Wanda Nowak z firmy", "Wanda Nowak"),
    # tables of people
    ("no,name,ssn\n1,Wanda Nowak,541-24-7357\n", "Wanda Nowak"),
    ("no,name,ssn\n1,Wanda Nowak,541-24-7357\n", "541-24-7357"),
    ("Nachname;Vorname;Geburtsdatum\nNowak;Wanda;09.06.1968\n", "09.06.1968"),
    ("id,name,phone\n7,Wanda Nowak,01704610008\n", "01704610008"),
    # devices and machines
    ("$ scutil --get ComputerName\nwandas-mbp\n", "wandas-mbp"),
    ("Wandas-iPhone (17.3.1)", "Wandas-iPhone"),
    ('client-hostname "wandas-galaxy-s23";', "wandas-galaxy-s23"),
    ("10.2.3.9\t3c:22:fb:91:0a:7e\twanda-box9", "wanda-box9"),
    ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIn2J9ltHtiRmYCkKiWUH halszkaw@attic", "halszkaw"),
    ("SHA256:6ArD4vvPQ4Zdw2GmeZ+dkQDAm+8IDs4UdlsUXLwdcZj halszkaw@attic", "halszkaw@attic"),
    ("mail from root@wanda-desktop", "wanda-desktop"),
    (
        "ID        Time      Host           Tags\nb06cb060  02:00:03  wanda-desktop\n",
        "wanda-desktop",
    ),
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
    "user: deploy-bot\npassword: x",
    "user: app_user\npassword: x",
    "https://oauth2:x@a.b",
    "user: currentUser,\npassword: currentPassword",
    "call Stack Trace, then go on",
    "Contact Customer Support, please",
    "powered by Visual Studio",
    "the new-iphone and my-macbook",
    "ansible-galaxy install x",
    "docker-desktop is on",
    "Name     Type     Host\nalpha    beta     gamma\n",
    "id,name,version\n1,Left Pad,1.2.3\n",
    "name,address\nhttp,10.0\n",
    "look at file dot",
    "npm i react@next",
    "Wrote: 12 files  10:14 AM",
    "N: a;b",
    "HEAD^Main",
    "Message-ID: <20240318101522.GA4921@mail.firm.org>",
    "serialVersionUID = 712994732048171112L;",
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
