"""What is looked for and what nobody can recognise, in plain words for a report."""

from plait.redact.model import Group

LOOKED_FOR: dict[Group, str] = {
    "secrets": "keys and tokens by how they begin; passwords and keys by their name, the program that "
    "takes them, the sentence or the address that tells them; private keys; all of it also in base64, "
    "hex and codes",
    "paths": "names of users in home paths, at prompts, in listings, settings and commands, of authors, "
    "and the names of this machine's user",
    "hosts": "hosts at prompts, in commands and settings, addresses of the net and of network cards, "
    "names of internal domains, and this machine's name",
    "emails": "e-mail addresses of people",
    "accounts": "ids of accounts, customers and clouds, bank accounts and cards, telephone numbers",
    "rules": "your own words, expressions, fields and files",
}
STRICTLY = (
    "strictly: also what only may be secret, such as long words of letters and digits, anything unusual "
    "beside a word like key, id or hash, and hosts that not everybody asks"
)
NOT_RECOGNISED = (
    "what a picture, a sound or a compressed or encrypted file shows",
    "a password in prose that no word introduces, and one that is a plain word or a row of them there",
    "a secret that is cut into pieces which stand in several records, and no piece tells what it is",
    "sentences that tell a secret in a language that is not listed in docs/redaction.md",
    "encodings other than base64, hex, percent codes, entities, escapes and dumps of them",
    "tokens of services that are not known, where nothing beside them says what they are",
    "hashes of passwords, and ids that work as a key though they look like an id",
    "names of people, customers, firms and projects, postal addresses and other facts that tell who it is",
    "names of users and hosts that are everyday words, outside of paths and prompts",
    "what the text says about a secret: its length, its first letters, a hint",
)
