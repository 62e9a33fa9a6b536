"""Families that public rule sets know, each with how a made-up key of it is put together.

`{a36}` stands for 36 letters and digits, `{h}` for hex, `{u}` for capitals and digits, `{l}` for
small letters and digits, `{w}` for what addresses may hold, `{d}` for digits, `{b}` for base32.
"""

import re
from random import Random

from tests.redact.letters import ALNUM, DIGITS, HEX, LOWER, UPPER, URL, drawn

LETTERS = {
    "a": ALNUM,
    "h": HEX,
    "u": UPPER + DIGITS,
    "l": LOWER + DIGITS,
    "w": URL,
    "d": "123456789",
    "b": LOWER + "234567",
}
HOLE = re.compile(r"\{([a-z])([0-9]+)\}")
FORMS = """
1password secret key: A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}
adobe client secret: p8e-{a32}
aikido secret: AIK_SECRET_{a64}
alibaba access key: STS.{a24}
apify token: apify_api_{a36}
artifactory key: cmVmd{a59}
bitbucket token: BBDC-{a44}
buildkite token: bkua_{l40}
canva client secret: cnvca{a51}
cartesia key: sk_car_{a20}
circleci token: CCIPAT_{a22}_{h40}
clickhouse key: 4b1d{a38}
cloudsmith key: csa_{h30}{a6}
cockroach key: CCDB1_{a22}_{a40}
configcat key: configcat-sdk-1/{a22}/{a22}
datastax token: AstraCS:{a20}:{h64}
deno token: ddp_{a36}
devcycle key: dvc_server_{a24}
devin key: cog_{b52}
docker swarm token: SWMTKN-1-{l50}-{l25}
duffel token: duffel_live_{a43}
elastic key: essu_{a72}
facebook token: EAAC{a110}
frame.io token: fio-u-{a64}
google api key: AQ.Ab8RN6{a44}
gitlab token: GR1348941{a20}
grafana token: eyJrIjoi{a72}
harness token: pat.{a22}.{h24}.{a20}
infracost token: ico-{a32}
intra42 client secret: s-s4t2ud-{h64}
ionic token: ion_{a42}
llama cloud key: llx-{a48}
mailersend token: mlsn.{a64}
mercury token: mercury_production_rma_{a44}_yrucrem
mergify key: mergify_application_key_{a64}
minimax key: sk-api-{a119}
miro token: eyJtaXJv{a20}_{a27}
mongodb atlas secret: mdb_sa_sk_{a40}
neon key: napi_{l64}
nylas key: nyk_{a67}
octopus deploy key: API-{u26}
onesignal key: os_v2_app_{b103}
onfido token: api_live_us.{a32}
openshift token: sha256~{a43}
paddle key: pdl_live_apikey_{l26}_{a22}_{a3}
persona key: persona_production_{l36}
pinecone key: pcsk_{a6}_{a63}
pinterest token: pina_{u64}
polar token: polar_oat_{a43}
ramp client secret: ramp_sec_{a48}
rootly key: rootly_{h64}
runpod key: rpa_{u40}{a6}
salesforce token: 00D{a12}!{a96}
samsara token: samsara_api_{a30}
scalingo token: tk-us-{a48}
segment token: sgp_{a64}
settlemint token: sm_pat_{a16}
shippo token: shippo_live_{h40}
unkey root key: unkey_{a24}
upcloud token: ucat_{a28}
val town token: vtwn_{a32}
wakatime key: waka_{l40}
wandb key: wandb_v1_{a77}
xendit key: xnd_production_{a64}
zuplo key: zpka_{l32}_{h8}
packagist token: packagist_ort_{h68}
postman key: PMAT-{u26}
yandex key: AQVN{a36}
launchdarkly key: sdk-{h8}-{h4}-{h4}-{h4}-{h12}
defined networking token: dnkey-{a26}-{a52}
authress key: sc_{l10}.{l4}.acc-{l20}.{a60}
jina key: jina_{a60}
intercom token: dG9rOm{a60}
private key: LS0tLS1CRUdJTiBQUklW{a120}
new relic key: {h36}NRAL
asana token: 2/{d16}/{d16}:{h32}
aws marketplace token: amzn.mws.{h8}-{h4}-{h4}-{h4}-{h12}
key that begins like one: frobnicate_live_{a32}
"""
ROWS = [
    (label, form) for label, _, form in (row.partition(": ") for row in FORMS.split("\n") if row)
]


def made(rng: Random, form: str) -> str:
    """Return a key of a form."""
    return HOLE.sub(lambda hole: drawn(rng, LETTERS[hole[1]], int(hole[2])), form)
