"""Names of secrets, in settings and in sentences, in several languages."""

QUOTE = r"""\\{0,7}["'`]"""
SPACE = r"[ \t]{0,8}"


def _cases(words: str) -> str:
    """Returns words in the three spellings that settings have: any case would be everywhere."""
    found = words.split()
    return "|".join(
        dict.fromkeys(form for one in found for form in (one, one.capitalize(), one.upper()))
    )


PEOPLES = (
    "contraseña Contraseña CONTRASEÑA пароль Пароль ПАРОЛЬ токен Токен ключ Ключ hasło Hasło HASŁO lösenordet"
    " Lösenordet lösenord Lösenord jelszó Jelszó şifresi şifre Şifre κωδικός Κωδικός 密码 密碼 口令 密钥 密鑰 令牌 パスワード"
    " 暗証番号 비밀번호 암호 รหัสผ่าน סיסמה הסיסמה पासवर्ड schlüssel Schlüssel"
).split()
PHRASES = (
    "mật khẩu|Mật khẩu|kata sandi(?:nya)?|Kata sandi|كلمة المرور|كلمة السر|mot de passe|Mot de passe"
    "|mots? de passe|clave de API|clé API|chiave API|APIキー|ключ API|API-Schlüssel|palavra-passe"
)
SPOKEN = (
    f"{PHRASES}|[pP]asword|[pP]assowrd|[pP]asswrod|parola d'ordine|adgangskoden|passordet|hasłem|salasanani|"
    r"(?:secret|Secret|API|api|Api|access|Access|license|activation|wifi|Wifi|WiFi|signing|encryption|openai|admin|service"
    r"|webhook|deploy|private|shared|the|this|my|your|try|isakmp|server|OpenAI|Stripe|Anthropic|GitHub|AWS|unseal)[ -][kK]eys?|one-time password|PIN|pass code|hasłem|jeton|passordet"
    "|adgangskoden|community|SecretString"
)
NOUNS = (
    _cases(
        "password passwd passphrase passcode secret token credential passwort kennwort contrasena senha"
        " wachtwoord parola haslo heslo salasana adgangskode passord sifre psk"
    )
    + "|"
    + "|".join(PEOPLES)
    + f"|{PHRASES}|mot_?de_?passe|motDePasse|MOT_DE_PASSE|(?:\\A|[^A-Za-z0-9_])(?:mdp|MDP|Mdp|clave|Clave)"
    "|[aA][pP][iI][_.-]?[kK](?:ey|EY)|(?:access|private|auth|account|signing|encryption|master"
    "|license|service|admin|storage|shared|webhook|hmac|fernet|cipher|crypto|session|cookie|jwt|root"
    "|activation|product|subscription|instrumentation|function|insert|ingest|app|application|client"
    "|consumer|merchant|pre[_-]?shared|deploy|(?:tacacs|radius)-server|isakmp|unseal|recovery)[_ -]?[kK]eys?"
    "|(?:ACCESS|PRIVATE|AUTH|ACCOUNT|SIGNING|ENCRYPTION|MASTER|LICENSE|SERVICE|ADMIN|STORAGE|APP"
    "|WEBHOOK|APPLICATION)[_-]?KEY|[a-z](?:Access|Private|Auth|Account|Signing|Encryption|Master|Api"
    "|Session|App|Webhook|Client)Key|[sS]ubscription-[kK]ey|[a-z]Psk|[iI]nstrumentationKey|P(?:re|RE)[sS]haredKey"
    "|(?:Functions|Insert|Admin|Api|Auth|Access|Application|APPLICATION|Subscription|Private|Master)-K(?:ey|EY)"
    "|[pP]wd|PWD|_PASS|_pass|[a-z]Pass|PGPASS|SSHPASS|_PSW|_PAT|AccountKey|SharedAccessKey|[pP]swd"
    r"|_auth|_AUTH|\.dockerconfigjson|_DSN|_SALT|_KEY|_PW|_pw|(?:bind|root|admin|db|user|remote)p(?:w|ass)"
    r"|RootPW|(?:\A|[^A-Za-z0-9_])(?:pass|Pass|pw|PW|Pw|pin|pincode|otp|totp)|(?:erlang_|set|magic_)cookie|IDENTIFIED|requirepass|masterauth|npmAuthIdent"
    r"|(?:recovery|backup|access|one-time|auth|unlock|activation|security)[_ -](?:[cC]odes?|answer)|(?:totp|otp|mfa)_?(?:seed|secret|key)"
    r"|rpcauth|[sS]erviceAuth|bearer|authToken|snmp-server community|client-key-data"
)
SUFFIX = r"(?:[_.-][A-Za-z0-9_.-]*|[A-Z0-9][A-Za-z0-9_]*)?"
NOUN = rf"(?:{SPOKEN}|{NOUNS}){SUFFIX}"
BARE = r"""[^\x00-\x20"'`\\<>(),;{}\[\]|\x7f-\xff][^\x00-\x20"'`\\<>(),;{}\[\]|\x7f-\xff]{4,2100}"""
QUOTED = r"""[^\x00-\x1f"'`\\]{5,2100}"""
