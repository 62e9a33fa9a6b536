"""Secrets in formats of their own, one row for each rule, and texts that only resemble them."""

import re

import pytest

from plait.redact import Redactor

SECRETS = {
    "code in a test": ('if pin == "{}":  # of the till', "904417"),
    "code of an alarm": ('alarm_code: "{}"', "8316"),
    "code to a modem": ('AT+CPIN="{}"', "6157"),
    "code in a name": ('{{"SteamParentalCode": "{}", "Games": []}}', "2594"),
    "code in a column": ("Key    Value\n---    -----\npin    {}", "551903"),
    "code after a word": ("la SIM se bloqueó, el PUK {} está en la caja", "70415528"),
    "code of a device": ("I (812) BLE: static passkey set: {}", "418027"),
    "mailbox": ("; mailbox => pin,name\n204 => {},Reception,r@x.test", "770312"),
    "digits of a network": ("WLAN-Netzwerkschlüssel (WPA2): {}", "40718862539917264031"),
    "key of a section": ("api:\n  key: {}\nwebcam: on", "B07C51D29E6F4A3881D5E0C7F92A6B34"),
    "key beside a user": ('{{"username":"mbauer","key":"{}"}}', "c41f7a90de385b62af07193e8d64cb25"),
    "key of words": (
        "option encryption 'psk2'\noption key '{}'",
        "Teekanne und leuchtturm 418",
    ),
    "bytes": (
        "const uint8_t aes_key[] = {{ {} }};",
        "0x7c, 0x12, 0xe9, 0x40, 0xb3, 0x5f, 0x88, 0x0d, 0x61, 0xfa",
    ),
    "answer below": ("> wie war das Passwort vom NAS?\n> {}\n> danke", "Muschel+417"),
    "answer of somebody": (
        "Me: what's the token of the runner?\nOps: it's still {}",
        "gartenzaun381",
    ),
    "answer chosen": ("Which API key should it use? → {}", "q7RbT2mXw9LcV4nZkY8dHs3J"),
    "printed": (
        "$ nmcli -g 802-11-wireless-security.psk connection show x\n{}\n$ ls",
        "7-KqTRw92_Lm",
    ),
    "phrase printed": ("$ pass show home/portal\n{}\nlogin: x", "Wasserfall und kerze 613"),
    "changed logins": ("chpasswd:\n  list: |\n    ubuntu:{}\n  expire: false", "Kartoffel#217"),
    "split": ('const t = "ghp_q8DneYm3fs7KDL" +\n  "{}";', "XYVw5yoC0bZtVlN4pZ9k"),
    "dumped": ('["apiSecret"]=>\n  string(32) "{}"', "58dc4f9bb3dda59d0795e35d02566fa1"),
    "commented": ('c = Client(sid, "{}")  # auth token', "8b79ddff34ebf9255eccedf84fc480a3"),
    "changed to": ("the old password leaked, I changed it to {} today", "GK0pQ7JaWd2X"),
    "field of a form": ('form-data; name="pwd"\r\n\r\n{}\r\n--x', "GingerHarbour4604"),
    "filled": ("getByLabel('Password')\n  fill(\"{}\")", "kiesel.Porto_84?x"),
    "root": ("rootpw --plaintext {}", "qKXzU0Beu~M_w6"),
    "provider": ("tls {{\n\tdns gandi {}\n}}", "bQEGKl9gLI2rl4CBuc1gXJpf"),
    "stream": ("rtmp://live.test.tv/app/live_1441_{}", "7WHsIM3qbslEUVMOrt8DpyJ4"),
    "address": ('url: "https://eth-x.g.alchemy.com/v2/{}"', "KLpnCqTKpfMpo08wfADBF8r3GkE1jUR7"),
    "parameter": ("get('/weather?q=Ulm&appid={}')", "7a98a584feb3604a7ad1b28068e7f1c4"),
    "gossip": ('encrypt = "{}"', "mtD3vYbrrrLZhLncFQXamwuNuhjqbUaYpeM6eyK6Gr8="),
    "role": ('tokens {{\n  agent = "{}"\n}}', "ce6bc836-7fb7-4189-b7e8-68563250446b"),
    "seed": ('"TOTP_SEED": "{}"', "MG5ONR5OG34H7GFY5P2MBMV22SBAHQNJ"),
    "transfer": ("331 Enter password.\nFTP> pass {}\n230 logged on", "QSHT6DAY"),
    "backup": ("b2 authorize-account 0032c1f90000 {}", "K003MGOhHA1rnyxhMotAzufylwE7"),
    "data source": ("[Lake]\nUID    = etl\nPWD    = {}", "~FngjD`VCv|pkJ"),
    "user of a store": ("6379> ACL SETUSER cache on >{} ~cache:*", "donnerhall1558"),
    "net user": ("net user jkowal {} /add", "t1ger.knopf8"),
    "tunnel": ('jkowal : EAP "{}"', "Traktor!2018"),
    "peer": ('user  *  "{}"  *', "31292149"),
    "app password": ("[smtp.x.test]:587 me@x.test:{}", "nmkv ehob rwpb khun"),
    "temporary": ("A temporary password is generated for root@localhost: {}", "sNUn<MyN;xecR"),
    "vpn": ("set psksecret ENC {}", "LZJPZ4F3l1OFnsgRbivOeMejnaZrui8vzGD43mmGj4m4"),
    "attribute": (
        '<wsse:Password Type="http://docs.test/wss/2004/token-profile-1.0#Text">{}</wsse:Password>',
        "myKupfer58!jenseits",
    ),
    "element between": (
        "<name>smtp.password</name>\n<description>The relay</description>\n<value>{}</value>",
        "t1ger-p1rat32",
    ),
    "argument": ("database('lab','labuser','{}','Vendor','MySQL')", "kv!25EPG0Z5LXO"),
    "argument of perl": ('DBI->connect("dbi:Pg:db", "acct", q{{{}}}, {{}});', "mango8651?"),
    "second line": ("$ cat /etc/openvpn/auth.txt\nbranch95\n{}\n$ ls", "Iglu@613"),
}
HARMLESS = (
    "pin = 17  # GPIO",
    "spin: 4500",
    "pinned = 2024.1",
    "const key = { a: 1, b: 2 }",
    "sort_keys = [10, 20, 30, 40, 50, 60, 70, 80]",
    "cache:\n  key: node-modules-linux-x64-v4",
    "Did you forget your password?\nClick here to reset it.",
    "Should the token be cached?\nYes, for 3600 seconds.",
    "$ git log --oneline\n9e6bb665 redact: keep values",
    "chpasswd:\n  expire: false",
    '"prefix-" +\n  "suffix"',
    '["name"]=>\n  string(5) "hello"',
    'load("config.yaml")  # token settings',
    "it was a string, I changed it to bytes",
    "encrypt = true",
    "PWD = /srv/build",
    "dns nameserver example",
)


@pytest.mark.parametrize("name", SECRETS)
def test_formats_of_programs_are_read(name: str) -> None:
    shape, value = SECRETS[name]
    redacted = Redactor().text(shape.format(value))
    longest = max(re.findall("[A-Za-z0-9]+", value), key=len)
    assert longest not in redacted


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_resembles_a_format_stays(text: str) -> None:
    assert Redactor().text(text) == text
