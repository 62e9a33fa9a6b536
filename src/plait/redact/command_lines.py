"""Secrets in command lines: arguments, flags, and what is piped or typed into programs.

Quotes may be escaped any number of times, and a line may end with a written `\\n`, because logs
hold commands in JSON in JSON.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from plait.redact.likelihood import (
    CODES,
    NEW_LINE,
    NOTHING,
    PASSWORDS,
    PIECE,
    QUOTE,
    TECHNICAL,
    is_at_word_start,
    is_chosen,
    is_dotted_name,
    is_in_patch,
    is_likely,
    is_mixed,
    is_odd,
    is_placeholder,
    is_plain_word,
    is_random,
    is_reference,
)
from plait.redact.model import Family, TextSpan, command_secret
from plait.redact.people import SOFTWARE

WORD = re.compile(
    rb"""[ \t]*((?:\\{0,7}"[^"\n\x00]{0,400}?"|\\{0,7}'[^'\n\x00]{0,400}?'|\\{1,7}[^\x00-\x20\\nr"']|[^\x00-\x20"'`|;&()<>\\]"""
    rb"""|\\{1,7}[nr](?=[A-Za-z0-9$-]*\\))+)"""
)
REDIRECTED = re.compile(rb"[ \t]*[0-9]?(?:>>?|<)&?[ \t]*[^\x00-\x20|;&<>]+")
CONTINUED = re.compile(rb"[ \t]*\\{1,2}\r?\n[ \t]*[+>|]?|[ \t]*\\{2,8}n[ \t]+(?=-)")
OPENING = re.compile(rb"\\{0,7}[\"']")
CLOSING = re.compile(rb"\\{0,7}[\"']?[,.]?\Z")
MOST_WORDS = 40
BACK = 400
VALUE = (
    r"""(?:\\{0,7}"[^"\x00-\x1f]{3,}"|\\{0,7}'[^'\x00-\x1f]{3,}'"""
    r"""|[^\x00-\x20"'`\\<>()|;&-][^\x00-\x20"'`\\<>()|;&]{3,})"""
)


OPTIONS = re.compile(rb"(?:id|src|source|target|type|env|name|file)=")


def is_given_secret(value: bytes) -> bool:
    """Return whether a program was given a secret rather than a placeholder for one."""
    if OPTIONS.match(value):
        return False
    if is_odd(value) and not is_reference(value):
        return True
    if len(value) < 5 or is_placeholder(value) or is_reference(value) or is_plain_word(value):
        return False
    if (b"/" in value and not is_random(value.replace(b"/", b""))) or is_dotted_name(value):
        return False
    return (
        is_random(value) or is_chosen(value) or (is_likely(value) and not TECHNICAL.search(value))
    )


def unquote(text: bytes, span: TextSpan) -> TextSpan:
    """Return a word without its quotes."""
    opening = OPENING.match(text, span.start, span.end)
    start = opening.end() if opening else span.start
    closing = CLOSING.search(text, start, span.end) if opening else None
    return TextSpan(start, closing.start() if closing else span.end)


def iter_words(text: bytes, place: int) -> Iterator[TextSpan]:
    """Yield the words of a command up to its end; redirections are skipped."""
    for _ in range(MOST_WORDS):
        while more := REDIRECTED.match(text, place) or CONTINUED.match(text, place):
            place = more.end()
        word = WORD.match(text, place)
        if word is None:
            return
        yield TextSpan(*word.span(1))
        place = word.end()


def line_start(text: bytes, place: int) -> int:
    """Return the start of the line of a place, real or as written in JSON."""
    first = max(0, place - BACK)
    written = text.rfind(b"\\n", first, place)
    real = max(text.rfind(sign, first, place) for sign in (b"\n", b"\0", b"\x1f"))
    return max(real + 1, written + 2 if written >= 0 else 0, first)


# A row is: programs (with the first words of a command in angle brackets), then what is secret.
#   -p        the word after the flag, or attached to it or after `=`
#   -p+       only what is attached to the flag
#   -u:       what follows the colon in the flag's word; other separators are % , /
#   @2        the second word that is no flag
#   @/        a word `name/secret@place`
#   <         stdin
#   key       the following words are a name and a value: secret if the name says so
TABLE = """
mysql mysqldump mysqladmin mysqlimport mysqlcheck mariadb mariadb-dump mariadb-admin mysqlsh: -p+ --password
mysqladmin<password>: @1
mycli litecli mssql-cli iredis: -p -a
mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop: -p
sshpass: -p
redis-cli valkey-cli keydb-cli: -a --pass
redis-cli<AUTH> redis-cli<auth>: @1
redis-cli<config> redis-cli<CONFIG>: key
sqlcmd bcp osql go-sqlcmd tsql: -P
isql fisql: @3 -P
sqlplus sqlldr impdp expdp sqlcl: @/
rman<target>: @/
db2<connect>: using
clickhouse-client clickhouse cqlsh cypher-shell influx presto-cli trino: -p --password -password
influx<config>: -t
influx: -t -password
etcdctl couchdb-cli: --user:
neo4j-admin: set-initial-password
rabbitmqctl<add_user> rabbitmqctl<change_password> rabbitmqctl<authenticate_user>: @2
rabbitmqadmin racadm esxcli ncftpput ncftpget rdesktop evil-winrm crackmapexec netexec hydra: -p
curl: -u: -U: --user: --proxy-user: --pass --proxy-pass --oauth2-bearer --cert: -E: --tlspassword
wget: --password --http-password --ftp-password --proxy-password
aria2c: --http-passwd --ftp-passwd
lftp: -u,
smbclient rpcclient smbget smbmap nmblookup net<rpc> net<ads>: -U% --user%
net<use>: @2
net<user>: @2
xfreerdp wlfreerdp: /p
x11vnc: -passwd
ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldapcompare ldapmodrdn: -w
ldappasswd: -w -s -a
slappasswd: -s
kinit: <
openssl<enc> openssl<rsa> openssl<pkcs12> openssl<pkcs8> openssl<req> openssl<genrsa> openssl<ec> openssl<x509>: -k -K -pass: -passin: -passout: -password:
openssl<passwd>: @1
keytool jarsigner: -storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass -new
apksigner: --ks-pass: --key-pass:
ssh-keygen: -N -P
gpg gpg2: --passphrase
zip: -P
unzip: -P
7z 7za 7zr 7zz rar unrar: -p+ -hp+
pdftk: input_pw owner_pw user_pw
qpdf: --password --encrypt
cryptsetup: <
ecryptfs-add-passphrase vncpasswd lpass veracrypt: <
htpasswd: -b@3 -bc@3 -nb@2 -nbB@2 -bB@3 -cb@3 -Bb@3 -bn@2 -Bbn@2 -nbm@2 -bm@3 <
docker<login> podman<login> nerdctl<login> buildah<login> skopeo<login> helm<registry> crane<auth> oras<login> regctl<registry> az<acr>: -p <
docker<secret> podman<secret>: <
skopeo: --src-creds: --dest-creds: --creds:
oc<login> kubelogin: -p -t
vault<login>: @1 <
vault<operator>: @2
vault<unseal>: @1
consul<kv>: key
bw<login>: @2
bw<unlock>: @1
pass<insert>: <
secret-tool<store>: <
security<add-generic-password> security<add-internet-password>: -w -p
security<unlock-keychain> security<set-key-partition-list> security<create-keychain>: -p -k
security<import>: -P
xcrun<altool> xcrun<notarytool> altool: -p
cmdkey: /pass
schtasks: /rp /p
psexec psexec64 PsExec: -p
wmic: /password
runas: /password
sc<config> sc.exe<config> sc.exe<create> sc<create>: password=
az<login> az<sql> az<ad> az<vm> az<postgres> az<mysql>: -p
az<keyvault>: --value
aws<configure>: key
aws<secretsmanager>: --secret-string
aws<ssm>: --value
gcloud<secrets>: <
doctl<auth>: -t
heroku<auth> vercel<env> wrangler<secret> databricks<configure> vercel<secrets>: <
netlify<env:set>: key
netlify<deploy> netlify<login>: --auth
supabase<link> supabase<db>: -p
doppler<configure> doppler<config>: key
pulumi<config>: key
ansible-vault<encrypt_string>: @2
knife: -P
git<config>: key
gh<auth>: <
gh<secret> gh<variable>: -b --body <
glab<auth>: -t <
glab<variable>: @3
npm<config> npm<set> yarn<config> pnpm<config> pnpm<set> bun<config> poetry<config> pip<config> composer<config> bundle<config> cargo<config> rclone<config> dvc<remote> kaggle<config> conda<config>: key
twine<upload>: -p
cargo<login> snyk<auth> wandb<login> railway<login> ngrok<authtoken> fly<auth> expo<login>: @1
snyk<config>: key
ngrok<config> cloudflared<service>: @2
gem<push> gem<yank>: --key
dotnet<nuget>: -p -k
dotnet<user-secrets>: key
nuget<push> nuget<setapikey> nuget<setApiKey>: @2
nuget<sources>: -Password
codecov codecovcli: -t
nmcli<dev> nmcli<device> nmcli<d>: password
nmcli<con> nmcli<connection> nmcli<c>: key
wpa_passphrase: @2
iwctl: --passphrase
networksetup: @3
useradd usermod adduser: -p
chpasswd: <:
read: <
passwd smbpasswd: <
sudo<-S>: <
plink pscp psftp putty: -pw
rclone<obscure>: @1
mc<alias> mcli<alias>: @5
mc<config> minio-client<config>: @6
mc<admin>: @5
mosquitto_pub mosquitto_sub mqttx ipmitool: -P
mosquitto_passwd: -b@3
sendemail sendEmail: -xp
snmpwalk snmpget snmpset snmpbulkwalk snmptrap: -A -X -c
drush<user:password>: @2
grafana-cli grafana: reset-admin-password
caddy<hash-password>: -p --plaintext
mkpasswd: @1
jenkins-cli: -auth:
twilio<login>: @2
stripe<login>: -p
wp: --user_pass --dbpass --prompt
setx: key
launchctl<setenv>: key
systemctl<set-environment>: key
crudini: key
defaults<write>: key
reg<add>: /d
govc: -u:
openconnect: <
restic: <
ecryptfs-unwrap-passphrase: @2
kubectl<create>: --docker-password
jf<config> jfrog<config>: --password --access-token
gsettings<set>: key
adb<shell>: key
llm<keys>: --value
signtool<sign> certutil vncdo ncftp couchbase-cli: -p /p
netsh<wlan>: keyMaterial=
virsh<secret-set-value>: @2
consul<acl>: @3
nomad<acl> conda<token> flyctl<auth>: @2
vault<token>: @2
op<signin> age keyring borg restic mysql_config_editor: <
gem<push>: -k --key
eas<secret:create>: --value
iwconfig: key
wpa_cli<set_network>: @3
ktutil: @6
kadmin kadmin.local: -pw
elasticsearch-users<useradd> elasticsearch-users<passwd>: -p
samba-tool<user>: --newpassword @3
"""


@dataclass(slots=True)
class Program:
    """Which arguments of a program are secret."""

    flags: dict[bytes, bytes] = field(default_factory=dict)
    """How a flag's value is written: empty for a separate word, `+` for attached, or a separator."""
    positions: list[int] = field(default_factory=list)
    positions_by_flag: dict[bytes, int] = field(default_factory=dict)
    """Flags that make a position secret."""
    words: set[bytes] = field(default_factory=set)
    """Words followed by a secret."""
    is_path: bool = False
    is_key: bool = False
    stdin: bytes | None = None
    """`<` if stdin is the secret, `<:` if it is lines of names and secrets."""


@cache
def programs() -> dict[bytes, Program]:
    """Return the programs by their name, and by their name with the first word after it."""
    found: dict[bytes, Program] = {}
    for line in TABLE.strip().splitlines():
        names, _, facts = line.partition(": ")
        for name in names.split():
            program = found.setdefault(name.replace("<", " ").rstrip(">").encode(), Program())
            for fact in facts.split():
                _add(program, fact.encode())
    return found


def _add(program: Program, fact: bytes) -> None:
    if fact in (b"<", b"<:"):
        program.stdin = fact
    elif fact == b"key":
        program.is_key = True
    elif fact == b"@/":
        program.is_path = True
    elif fact.startswith(b"@"):
        program.positions.append(int(fact[1:]))
    elif b"@" in fact:
        flag, _, place = fact.partition(b"@")
        program.positions_by_flag[flag] = int(place)
    elif fact[:1] in b"-/":
        is_signed = fact[-1:] in b"+:%,"
        program.flags[fact[:-1] if is_signed else fact] = fact[-1:] if is_signed else b""
    else:
        program.words.add(fact)


def names() -> list[str]:
    """Return how commands begin, for an expression: a name, and a word where one is needed."""
    found = {name.decode() for name in programs()}
    alone = {name for name in found if " " not in name}
    return sorted({name for name in found if name.partition(" ")[0] not in alone} | alone)


HERE = re.compile(rb"[ \t]*<<<[ \t]*")
LINES = re.compile(rb"[ \t]*<<-?[ \t]*\\{0,7}[\"']?([A-Za-z_]+)\\{0,7}[\"']?")
LOGIN_LINE = re.compile(rb"(?:\n|\\{1,7}n)[ \t]*[A-Za-z0-9_.-]{1,40}:([^\x00-\x20\"'\\:]{4,80})")
LINE = re.compile(rb"(?:\n|\\{1,7}n)[ \t+>]*([^\x00-\x20\"'\\]{4,200})")
MOST_LINES = 20


def iter_stdin_secrets(text: bytes, place: int, program: Program) -> Iterator[TextSpan]:
    """Yield the secrets that a program reads from what follows its arguments."""
    here = HERE.match(text, place)
    if here and program.stdin and (word := WORD.match(text, here.end())):
        bare = unquote(text, TextSpan(*word.span(1)))
        yield from _lines_of(text, bare, program.stdin)
    lines = LINES.match(text, place)
    if lines and program.stdin:
        end = text.find(lines[1], lines.end(), lines.end() + 2000)
        form = LOGIN_LINE if program.stdin == b"<:" else LINE
        for line in islice(form.finditer(text, lines.end(), max(end, lines.end())), MOST_LINES):
            yield TextSpan(*line.span(1))


def _lines_of(text: bytes, bare: TextSpan, stdin: bytes) -> Iterator[TextSpan]:
    """Yield the secrets in lines written to a program, with or without a name."""
    for line in re.finditer(rb"[^\n\\]+(?:\\(?![nr])[^\n\\]*)*", text[bare.start : bare.end]):
        start, end = bare.start + line.start(), bare.start + line.end()
        start += text[start - 1 : start] == b"\\" and text[start : start + 1] in (b"n", b"r")
        colon = text.find(b":", start, end) if stdin == b"<:" else -1
        yield TextSpan(colon + 1 if colon >= 0 else start, end)


WRITES = re.compile(
    rb"(?:echo|printf|print|yes|Write-Output|Write-Host)((?:[ \t]+-[a-zA-Z]+)*)[ \t]+([^|;&\n]*?)[ \t]*\Z"
)
WRITE = (
    r"(?:echo|printf)(?:[ \t]+-[a-zA-Z]+)*(?:[ \t]+\\{0,7}[\"']%s(?:\\{1,7}n)?\\{0,7}[\"'])?[ \t]+"
)
QUOTED_WRITE = re.compile(
    rf"{WRITE}(?P<q>\\{{0,7}}[\"'])(?:(?P<w>(?:(?!(?P=q))[^\x00-\x20]){{6,200}})(?P=q)[ \t]+(?P=q))?"
    rf"(?P<v>(?:(?!(?P=q))[^\x00-\x20]){{6,200}})(?P=q)[ \t]*\Z".encode()
)
BROKEN_WRITE = re.compile(
    rf"{WRITE}(?:\\{{0,7}}[\"'])?(?P<v>[^\x00-\x20\"'`\\|;&]{{6,}}){NEW_LINE}(?P<w>[^\x00-\x20\"'`\\|;&]{{3,}})(?:\\{{0,7}}[\"'])?[ \t]*\Z".encode()
)
RECEIVES = re.compile(
    rb"(?i)passw|secret|token|credential|login|auth|\bsudo\b|\bsu\b|passphrase|stdin|cryptsetup|kinit"
    rb"|vault|unlock|keychain|smbpasswd|openconnect|private-key|pass insert"
)


def _piped(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what `echo` writes into a program that asks for a secret."""
    bar = text.rfind(b"|", max(0, match.start - 120), match.end)
    start = bar if bar >= 0 else match.start
    line = line_start(text, start)
    before = max(0, start - BACK)
    if RECEIVES.search(text, start, match.end + 60):
        quoted = QUOTED_WRITE.search(text, before, start)
        if quoted and any(is_odd(quoted[name] or b"") for name in "wv"):
            return tuple(TextSpan(*quoted.span(name)) for name in "wv" if quoted[name])
        broken = BROKEN_WRITE.search(text, before, start)
        if broken and is_given_secret(broken["v"] + broken["w"]):
            return TextSpan(*broken.span("v")), TextSpan(*broken.span("w"))
    wrote = WRITES.search(
        text,
        max(line, *(text.rfind(sign, line, start) + 1 for sign in (b";", b"&", b"(", b"`"))),
        start,
    ) or _last_written(text, start)
    if wrote is None or not RECEIVES.search(text, start, match.end + 60):
        return NOTHING
    stdin = b"<:" if b"chpasswd" in text[start : match.end + 20] else b"<"
    found = []
    for word in iter_words(text, wrote.start(2)):
        if word.start >= wrote.end(2):
            break
        bare = unquote(text, word)
        found += [
            span for span in _lines_of(text, bare, stdin) if is_given_secret(text[slice(*span)])
        ]
    return tuple(found[-1:])


def _last_written(text: bytes, bar: int) -> re.Match[bytes] | None:
    """Return the last text printed before a pipe, if its line breaks are escaped."""
    first = max(text.rfind(sign, max(0, bar - BACK), bar) for sign in (b"\n", b"\0"))
    place = max(text.rfind(name, max(first, 0), bar) for name in (b"echo ", b"printf ", b"yes "))
    return WRITES.match(text, place, bar) if place >= 0 else None


def _here(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a here-string of a command that mentions secrets."""
    before = text[max(0, match.start - 120) : match.start].rpartition(b"\n")[2].rpartition(b"\0")[2]
    word = WORD.match(text, match.end)
    if word is None or not RECEIVES.search(before):
        return NOTHING
    bare = unquote(text, TextSpan(*word.span(1)))
    stdin = b"<:" if b"chpasswd" in before else b"<"
    return tuple(
        span for span in _lines_of(text, bare, stdin) if is_given_secret(text[slice(*span)])
    )[:1]


ASKED = re.compile(rb"(?i)passw|assword|passphrase|assphrase|\bpin\b|expect|token|secret")


def _script_answer(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the answer of a script to a password prompt."""
    if not ASKED.search(text, max(0, match.start - 200), match.start):
        return NOTHING
    found = text[value.start : value.end]
    end = value.end - len(found) + len(re.sub(rb"(?:\\+[rn])+\Z", b"", found))
    span = TextSpan(value.start, end)
    return (span,) if is_given_secret(text[span.start : end]) else NOTHING


def _substituted(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what a program reads from a file that a command writes."""
    if not RECEIVES.search(text, max(0, match.start - 80), match.start):
        return NOTHING
    bare = unquote(text, value)
    return tuple(
        span for span in _lines_of(text, bare, b"<") if is_given_secret(text[slice(*span)])
    )[-1:]


PIPED = (
    r"\|[ \t]*(?:sudo|su|doas|kinit|chpasswd|passwd|smbpasswd|cryptsetup|htpasswd|openconnect|docker"
    r"|podman|gh|glab|wrangler|gcloud|vault|pass|secret-tool|fly|flyctl|vercel|heroku|kubectl|npm|aws"
    r"|az|security|op|doppler|supabase|mysql_config_editor|gpg|openssl|ssh-add|ansible-vault|argocd)[ \t\n\\\"']"
    r"|\|[ \t]*(?:sudo[ \t]+)?(?:chpasswd|passwd|smbpasswd)"
    r"|--password-stdin|--with-token|--passwd-on-stdin|--passphrase-fd|--data-file=-|--stdin[ \t\n]"
)
INPUTS: tuple[Family, ...] = (
    command_secret("piped", PIPED, _piped),
    command_secret(
        "substituted", rf"<\((?:echo|printf)(?:[ \t]+-[a-z]+)*[ \t]+(?P<v>{VALUE})", _substituted
    ),
    command_secret("here", r"<<<[ \t]*", _here),
    command_secret(
        "answer",
        rf"send(?:line|_keys|Keys)?(?:[ \t]+--)?(?:[ \t]+|\()(?:{QUOTE})(?P<v>[^\x00-\x1f\"'`]{{4,100}})",
        _script_answer,
    ),
)


FLAG_SECRETS = frozenset(
    b"""password passwd passphrase pass pwd pw secret token apikey credential credentials creds auth
    bearer jwt pin psk storepass keypass authkey authtoken cookie passcode accesskey secretkey
    """.split()
) | frozenset((b"login",))


def _command(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the secret arguments of a known program."""
    is_joined = text[match.start - 1 : match.start] in (b"-", b".")
    if not is_at_word_start(text, match.start) or (
        is_joined and not is_in_patch(text, match.start)
    ):
        return NOTHING
    words = list(_words_once(text, match.start))
    return _secrets_of_command(text, words, words[-1].end) if words else NOTHING


def _secrets_of_command(text: bytes, words: list[TextSpan], end: int) -> tuple[TextSpan, ...]:
    first = text[slice(*words[0])].removesuffix(b".exe").removesuffix(b".sh")
    known = programs()
    second = text[slice(*words[1])] if len(words) > 1 else b""
    found: list[TextSpan] = []
    for name in (first, first + b" " + second):
        if program := known.get(name):
            found += _arguments(text, words[1 + name.count(b" ") :], program)
            found += iter_stdin_secrets(text, end, program)
    return tuple(dict.fromkeys(span for span in found if is_given_secret(text[slice(*span)])))


LISTED_WORD = re.compile(
    rf"(?>[ \t,]|{NEW_LINE}){{0,40}}+(?P<q>\\{{0,7}}[\"'])(?P<v>(?:(?!(?P=q))[^\x00-\x1f]){{0,400}})(?P=q)".encode()
)


def _listed_command(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what is secret in a command that is written as a list of words."""
    words: list[TextSpan] = []
    place = match.start
    while len(words) < MOST_WORDS and (word := LISTED_WORD.match(text, place)):
        words.append(TextSpan(*word.span("v")))
        place = word.end()
    return _secrets_of_command(text, words, place) if words else NOTHING


def _words_once(text: bytes, place: int) -> Iterator[TextSpan]:
    """Yield the words of a command up to the next mention of the same program."""
    program = b""
    for word in iter_words(text, place):
        written = text[word.start : word.end]
        if written == program:
            return
        program = program or written
        yield word


def _arguments(text: bytes, words: list[TextSpan], program: Program) -> Iterator[TextSpan]:
    position, flagged = 0, 0
    is_named = False
    for number, word in enumerate(words):
        written = text[word.start : word.end]
        if is_named and written[:1] != b"-":
            is_named = program.is_key and (
                len(written) < 16 and not is_random(written) and not is_mixed(written)
            )
            yield unquote(text, word)
            continue
        if written[:1] in (b"-", b"/") or written.endswith(b"="):
            flagged = program.positions_by_flag.get(written, flagged)
            yield from _flag(text, words, number, program)
            continue
        position += 1
        bare = text[slice(*unquote(text, word))]
        if position in program.positions or position == flagged:
            yield unquote(text, word)
        if program.is_path and (path := re.search(rb"/([^/@\s]+)@", written + b"@")):
            yield unquote(text, TextSpan(word.start + path.start(1), word.start + path.end(1)))
        if bare in program.words:
            is_named = True
        elif program.is_key and (is_name_of_secret(bare) or NAME_OF_LOGIN.match(bare)):
            is_named = b"=" not in bare


NAME_OF_LOGIN = re.compile(
    rb"(?:http-basic|github-oauth|gitlab-oauth|gitlab-token|bearer)(?:\.|\Z)|key\Z"
)


def _flag(text: bytes, words: list[TextSpan], number: int, program: Program) -> Iterator[TextSpan]:
    word = words[number]
    written = text[word.start : word.end]
    for flag, sign in program.flags.items():
        if written == flag and sign != b"+" and number + 1 < len(words):
            yield from _part(text, words[number + 1], sign)
        elif written.startswith(flag) and len(written) > len(flag):
            start = word.start + len(flag)
            behind = text[start : start + 1]
            if behind in (b"=", b":") or len(flag) == 2 or sign == b"+":
                yield from _part(text, TextSpan(start + (behind in (b"=", b":")), word.end), sign)


def _part(text: bytes, word: TextSpan, sign: bytes) -> Iterator[TextSpan]:
    bare = unquote(text, word)
    if sign in (b"", b"+"):
        yield bare
        return
    place = text.find(sign, bare.start, bare.end)
    if place + 1 == bare.end and is_random(text[bare.start : place]):
        yield TextSpan(bare.start, place)  # a token instead of a name, and no password
    elif place >= 0:
        yield unquote(text, TextSpan(place + 1, bare.end))


@cache
def is_name_of_secret(name: bytes) -> bool:
    """Return whether a name of a setting says that its value is secret."""
    from plait.redact.contexts import is_secret_key

    return is_secret_key(name) and bool(
        SECRET_WORDS & {word.lower() for word in PIECE.findall(name)}
        or re.search(rb"(?i)passw|secret|token|api_?key|credential", name)
    )


SECRET_WORDS = PASSWORDS | FLAG_SECRETS | {b"key", b"keys"}


def _flagged(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the value of a flag whose name says that it is secret."""
    flag = text[match.start : value.start]
    name = re.split(rb"[ \t=:\"'`\\]", flag.lstrip(b" \t\"'`-/"), maxsplit=1)[0]
    words = [word.lower() for word in PIECE.findall(name)]
    if not words or not is_name_of_secret(name):
        return NOTHING
    span = unquote(text, value)
    found = text[span.start : span.end]
    name_and = re.match(rb"[A-Za-z0-9_.@-]{1,40}:", found)
    if name_and and words[-1] in (b"auth", b"credentials", b"creds", b"login", b"user", b"basic"):
        span = TextSpan(span.start + name_and.end(), span.end)
        found = text[span.start : span.end]
    elif words[-1] in (b"pass", b"passin", b"passout") and found.startswith(b"pass:"):
        span = TextSpan(span.start + 5, span.end)
        found = text[span.start : span.end]
    if text[span.end : span.end + 1] == b"(" or (words == [b"key"] and not is_random(found)):
        return NOTHING
    return (span,) if is_given_secret(found) else NOTHING


USER_FLAG = re.compile(
    rb"[ \t](?:(?:-u|-U|-l|-login|-user|-username|--user|--username|--login)(?:[ =]|(?=[A-Za-z]))|/u(?:ser)?:)"
    rb"([A-Za-z0-9_.@\\-]+)"
)


def _with_user(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the value of `-p` for any program that is also given a user."""
    line = line_start(text, match.start)
    end = min(
        (p for p in (text.find(sign, match.end) for sign in (b"\n", b"\0")) if p > 0),
        default=len(text),
    )
    users = (found for found in USER_FLAG.finditer(text, line, min(end, match.end + BACK)))
    has_user = any(found[1][:1] != b"-" and not SOFTWARE.search(found[1]) for found in users)
    return _answer(text, match, value) if has_user else NOTHING


STORE = re.compile(rb"(?:redis|valkey|keydb|:6379)[^\n]{0,40}> ?\Z|(?:\A|[\n\x00\x1f]|\\n|\")\+?\Z")


def _asked_store(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a login to a key store, at its prompt or at the beginning of a line."""
    is_asked = STORE.search(text, max(0, match.start - 60), match.start) is not None
    is_loud = text[match.start : match.start + 4] == b"AUTH"
    return _answer(text, match, value) if is_asked and is_loud else NOTHING


def _alone(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return _answer(text, match, value) if is_at_word_start(text, match.start) else NOTHING


def _answer(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    span = unquote(text, value)
    return (span,) if is_given_secret(text[span.start : span.end]) else NOTHING


def _pair(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the password after a name and a colon."""
    return tuple(span for span in _part(text, value, b":") if is_given_secret(text[slice(*span)]))


def _spelled(name: str) -> str:
    return re.escape(name).replace(r"\ ", r"[ \t]+")


FLAG_NOUNS = (
    "password|passwd|passphrase|passcode|pass|pwd|pw|secret|token|api[_-]?key|access[_-]?key|auth"
    "|private[_-]?key|secret[_-]?key|credentials?|creds|bearer|jwt|pin|psk|storepass|keypass|cookie"
    "|authkey|authtoken|encryption[_-]?key|signing[_-]?key|master[_-]?key|license[_-]?key|account[_-]?key"
    "|account-key|login|requirepass|masterauth|otp|Password|Token|ApiKey|Secret|Pass|Pwd|Key"
)
LONG_FLAG = (
    rf"(?:--?|[ \t]/)(?:[A-Za-z0-9]+[-_.:])*(?:{FLAG_NOUNS})(?:[-_][a-z0-9]+)*"
    rf"(?:[ \t]{{1,4}}|[=:][ \t]?)(?P<v>{VALUE})"
)
FLAG_TRIGGER = (
    rf"(?:--?|[ \t]/)(?:[A-Za-z0-9]+[-_.:])*(?:{FLAG_NOUNS})(?:[-_][a-z0-9]+)*[ \t=:][^\x00-\x20-]"
)
PROGRAM = rf"(?:{'|'.join(map(_spelled, names()))})(?:\.exe|\.sh)?[ \t]"
COMMANDS: tuple[Family, ...] = (
    command_secret(
        "named-set",
        r"(?:secrets?[ :](?:set|put|create|import)|config:set|env:set|set-env)[ \t]+(?:-[^\x00-\x20]+[ \t]+)*"
        rf"[A-Za-z0-9_]+=(?P<v>{VALUE})",
        _answer,
    ),
    command_secret(
        "store-login", rf"(?:AUTH|auth)(?:[ \t]+default)?[ \t]+(?P<v>{VALUE})", _asked_store
    ),
    command_secret("pass", rf"PASS=(?P<v>{VALUE})", _alone),
    command_secret("flag", LONG_FLAG, _flagged, trigger=FLAG_TRIGGER),
    command_secret(
        "secure-string", rf"ConvertTo-SecureString(?:[ \t]+-String)?[ \t]+(?P<v>{VALUE})", _answer
    ),
    command_secret(
        "beside-user",
        rf"[ \t](?:(?:-p|-P|-w|-pw|-pass)[ =]|-p(?=['\"])|/p(?:ass)?:)(?P<v>{VALUE})",
        _with_user,
        trigger=r"[ \t](?:(?:-p|-P|-w|-pw|-pass)[ =]|-p['\"\\]|/p(?:ass)?:)[^\x00-\x20-]",
    ),
    command_secret(
        "pair",
        rf"[ \t](?:-[a-zA-Z]{{0,3}}u|-U|-a|-auth|--user|--auth|--proxy-user|--http-user|--creds|--basic)[ =](?P<v>{VALUE})",
        _pair,
        trigger=r"[ \t](?:-[a-zA-Z]*u|-U|-a|-auth|--user|--auth|--proxy-user|--http-user|--creds|--basic)[ =][^\x00-\x20:]+:[^\x00-\x20]",
    ),
    command_secret(
        "listed-command",
        rf"{QUOTE}(?:{'|'.join(map(_spelled, names()))}){QUOTE},",
        _listed_command,
        is_many=True,
    ),
    command_secret("command", PROGRAM, _command, is_many=True, trigger=rf"\b{PROGRAM}"),
    command_secret(
        "command-behind-code",
        rf"(?:\\[nrtbf]|{CODES})(?P<v>{PROGRAM})",
        # the program follows an escaped character
        lambda text, match, value: _command(text, value, value),
        is_many=True,
    ),
)
