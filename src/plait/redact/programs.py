"""Programs to the arguments in which they take a secret: facts of their manuals, one line each."""

from dataclasses import dataclass, field
from functools import cache

# A line is: programs (with the first words of a command in angles), then what is secret.
#   -p        the word behind the flag, or what is written right behind it or behind `=`
#   -p+       only what is written right behind the flag
#   -u:       what stands behind the colon of the flag's word; other signs are % , /
#   @2        the second word that is no flag
#   @/        a word `name/secret@place`
#   <         what comes on stdin
#   key       the words behind are a name and a value: secret if the name says so
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
    """What a program takes that is secret."""

    flags: dict[bytes, bytes] = field(default_factory=dict)
    """A flag to how its value is written: empty as a word, `+` right behind it, or a sign."""
    positions: list[int] = field(default_factory=list)
    told_by: dict[bytes, int] = field(default_factory=dict)
    """A flag that makes a position secret."""
    words: set[bytes] = field(default_factory=set)
    """Words behind which a secret stands."""
    is_path: bool = False
    is_key: bool = False
    stdin: bytes | None = None
    """`<` where stdin is the secret, `<:` where it is lines of names and secrets."""


@cache
def programs() -> dict[bytes, Program]:
    """Returns the programs by their name, and by their name with the first word behind it."""
    found: dict[bytes, Program] = {}
    for line in TABLE.strip().splitlines():
        names, _, facts = line.partition(": ")
        for name in names.replace("<", " <").split():
            if name.startswith("<"):
                continue
            key = _key_of(names, name)
            for one in key:
                program = found.setdefault(one, Program())
                for fact in facts.split():
                    _add(program, fact.encode())
    return found


def _key_of(names: str, name: str) -> list[bytes]:
    keys = []
    for word in names.split():
        base, _, rest = word.partition("<")
        if base == name:
            keys.append(f"{base} {rest.rstrip('>')}".encode() if rest else base.encode())
    return keys


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
        program.told_by[flag] = int(place)
    elif fact[:1] in b"-/":
        is_signed = fact[-1:] in b"+:%,"
        program.flags[fact[:-1] if is_signed else fact] = fact[-1:] if is_signed else b""
    else:
        program.words.add(fact)


def names() -> list[str]:
    """Returns how commands begin, for an expression: a name, and a word where one is needed."""
    found = {name.decode() for name in programs()}
    alone = {name for name in found if " " not in name}
    return sorted({name for name in found if name.partition(" ")[0] not in alone} | alone)
