"""Personal data after labels, in texts without wrapping: names, births, numbers, phones, places.

The labels are words of some twenty languages; what follows one of them has the form of its kind.
"""

import re
from collections.abc import Callable

from plait.redact.given_names import begins_with_given_name
from plait.redact.labelled import (
    HEAD_LINE,
    LABEL_WORD,
    RULE,
    SEPARATORS,
    iter_rows,
    line_at,
    parse_cells,
)
from plait.redact.likelihood import NOTHING, is_placeholder
from plait.redact.model import (
    Family,
    TextSpan,
    account_number,
    host_name,
    phone_number,
    user_name,
)
from plait.redact.names import is_person
from plait.redact.people import is_somebody

UPPER = r"(?:[A-Z]|\xc3[\x80-\x9e]|[\xc4\xc5\xc8][\x80-\xbf]|\xce[\x86-\xab]|\xd0[\x80-\xaf])"
LETTER = r"(?:[a-z]|[\xc3-\xd3][\x80-\xbf]|\xe1[\xb8-\xbb][\x80-\xbf])"
NAME_WORD = rf"(?:(?:Mc|Mac|O'|D'|De|Di|La|Le)?{UPPER}(?:{LETTER}|'(?={UPPER}|{LETTER})){{1,20}}(?:-{UPPER}{LETTER}{{1,20}})?)"
PARTICLE = r"(?:van der|van den|van de|von der|van|von|de la|de|del|della|der|den|di|da|dos|bin|al|ten|ter|zu|af|ibn)"
FULL_NAME = rf"{NAME_WORD}(?:[ ](?:{PARTICLE}[ ])?(?:{NAME_WORD}|{UPPER}\.)){{1,3}}"
UPPER_NAME = (
    rf"{UPPER}{{2,20}}(?:-{UPPER}{{2,20}})?(?:[ ]{UPPER}{{2,20}}(?:-{UPPER}{{2,20}})?){{1,2}}"
)
NAME_CELL = re.compile(rf"{NAME_WORD}(?:[ ](?:{PARTICLE}[ ])?{NAME_WORD}){{0,3}}".encode())
NAME_HEAD = re.compile(
    r"(?i)\A(?:(?:first|last|full|given|family|middle|maiden|contact|customer|employee|holder)[ _-]?name|name|surname|vorname|nachname|familienname"
    r"|pr(?:é|e)nom|nom|nombre|apellidos?|cognome|nome|sobrenome|apelido|voornaam|achternaam|f(?:ö|o)rnamn|efternamn|fornavn|etternavn|efternavn"
    r"|imi(?:ę|e)|nazwisko|jm(?:é|e)no|p(?:ř|r)(?:í|i)jmen(?:í|i)|etunimi|sukunimi|keresztn(?:é|e)v|vezet(?:é|e)kn(?:é|e)v|ad(?:ı|i)?|soyad(?:ı|i)?|имя|фамилия"
    r"|customer|employee|client|klient|kunde|pracownik|assignee|contact|patient)\Z".encode()
)
OTHER_HEAD = re.compile(
    rb"(?i)mail|phone|tel|mobil|address|adres|adress|birth|geb|city|stadt|miasto|ville|ciudad|citt|street|zip|plz|iban|surname|last|nach|nazwisko|apellido|cognome|nom\b|efternamn"
)


def _name_table(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the cells of a table of people: names, users, numbers, births, addresses."""
    line = line_at(text, match.start)
    field = text.rfind(b'": "', line.start, match.start)
    line = TextSpan(field + 4 if field >= 0 else line.start, line.end)
    head = text[slice(*line)]
    if HEAD_LINE.fullmatch(head) is None:
        return NOTHING
    for sign in SEPARATORS:
        if sign not in head:
            continue
        heads = parse_cells(text, line.start, line.end, sign)
        forms = {
            n: form
            for n, cell in enumerate(heads)
            for pattern, form in PEOPLES_HEADS
            if pattern.search(cell.text)
        }
        if not forms or not any(
            OTHER_HEAD.search(cell.text) for n, cell in enumerate(heads) if n != min(forms)
        ):
            continue
        spans: list[TextSpan] = []
        for row in iter_rows(text, line.end + 1):
            cells = parse_cells(text, row.start, row.end, sign)
            if RULE.match(text[slice(*row)]):
                continue
            if len(cells) != len(heads):
                break
            spans += [cells[n].span for n, is_worth in forms.items() if is_worth(cells[n].text)]
        return tuple(spans)
    return NOTHING


SERVICE_WORDS = frozenset(
    b"""admin administrator root app apps svc service services db sql backup bk ci cd deploy deployer bot robot build
    builder reader writer read write ro rw readonly user users test tester guest api web www data git postgres mysql
    mongo mongodb redis rabbit rabbitmq kafka elastic grafana prometheus jenkins gitlab github docker agent runner
    worker server client system sys ops dev devops prod production stage staging monitor monitoring metrics crm erp
    shop store sales support info office team demo example sample vpn wifi mail smtp imap ftp sftp ssh sensor iot
    device printer scanner kiosk nobody none null true false default anonymous public private internal login account
    owner member operator super superuser sa scott oracle ldap bind proxy squid nginx apache tomcat ubuntu debian
    centos ec2 azure aws gcp pi node npm python java ruby go php rust node postgresql sonar nexus artifactory vault
    consul terraform ansible puppet chef packer vagrant cron job batch import export importer exporter sync scan
    token oauth oauth2 x-token-auth gitlab-ci-token apikey key secret pass password name username
    site portal cloud cluster master slave replica primary pg maria report reporting bi etl loader""".split()
)


def is_login(name: bytes) -> bool:
    """Return whether a user name is somebody's rather than a service's."""
    if not 3 <= len(name) <= 40 or not is_somebody(name):
        return False
    pieces = [piece.lower() for piece in re.findall(rb"[A-Za-z]+", name)]
    return sum(map(len, pieces)) > 2 and not any(piece in SERVICE_WORDS for piece in pieces)


def _login_name(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a user name that is somebody's."""
    before = text[match.start - 1 : match.start]
    found = text[slice(*value)].rstrip(b".-")
    is_code = text[value.end : value.end + 1] in (b"(", b"[", b"=") or before in (b"$", b".")
    if is_code or not is_login(found) or before.isalnum():
        return NOTHING
    return (TextSpan(value.start, value.start + len(found)),)


def _likely_login(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a user name that begins with a given name, or is written as user names are."""
    found = text[slice(*value)]
    is_name = begins_with_given_name(found) or USUAL_LOGIN.fullmatch(found) is not None
    return _login_name(text, match, value) if is_name else NOTHING


USUAL_LOGIN = re.compile(rb"[a-z]{4,}[0-9]{1,4}|[a-z]{2,}[._][a-z]{3,}[0-9]{0,4}|[a-z]{6,20}")


def _named_device(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a machine whose name begins with that of its owner."""
    before = text[match.start - 1 : match.start]
    is_part = before.isalnum() or before in (b"-", b"_", b"/", b".")
    return NOTHING if is_part or not begins_with_given_name(text[slice(*value)]) else (value,)


def _card_fields(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the parts of a name or an address in a card, which semicolons separate."""
    found = text[slice(*value)].rstrip(b";\r ")
    start = value.start + len(found) - len(found.lstrip(b";"))
    return (TextSpan(start, value.start + len(found)),) if found.strip(b";") else NOTHING


def _address_block(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the lines of a letter's address: a name, a street with a number, a city with its code."""
    spans = [TextSpan(*part) for part in ADDRESS_BLOCK.match(text, match.start).regs[2:5]]  # type: ignore[union-attr]
    return tuple(spans) if is_person(text[slice(*spans[0])]) else NOTHING


END = r"""(?=["'`<>,;|)(\]}\t:!]|[ ]*(?:\r?\n|\Z)|[ ](?:[-–—(<|&/]|and|und|et|y|oder|from|at|aus|von|z|has|hat|is|ist)[ ]?|\.[ \r\n]|\.\Z)"""
PERSON_LABELS = (
    r"(?i:customer|client|kunde|kundin|klient(?:ka|in)?|cliente|employee|mitarbeiter(?:in)?|pracownik|empleado|dipendente|medewerker|anst(?:ä|a)lld|zam(?:ě|e)stnanec|funcion(?:á|a)rio|employ(?:é|e)e?|ty(?:ö|o)ntekij(?:ä|a)|asiakas|kund|medarbejder|z(?:á|a)kazn(?:í|i)k|ügyfél|m(?:ü|u)(?:ş|s)teri"
    r"|patient(?:in)?|paciente|paziente|pacjent(?:ka)?|contact(?: person)?|ansprechpartner(?:in)?|contacto|contatto|kontakt|contactpersoon"
    r"|card[ _-]?holder|account[ _-]?holder|kontoinhaber(?:in)?|titular|intestatario|titulaire|posiadacz|rekeninghouder"
    r"|recipient|empf(?:ä|a)nger(?:in)?|destinat(?:ario|(?:á|a)rio|aire)|odbiorca|ontvanger|mottagare|attn|attention|z\.?[ ]?hd\.?|beneficiary|payee"
    r"|owner|besitzer|propietario|proprietario|propri(?:é|e)taire|w(?:ł|l)a(?:ś|s)ciciel|eigenaar|inhaber(?:in)?|signed by|signatory|guest|passenger|tenant|mieter(?:in)?|insured|student|sch(?:ü|u)ler(?:in)?|teacher|lehrer(?:in)?|manager|supervisor|assignee|reporter|requester|reviewer|author|autor(?:in|a)?|auteur|autore"
    r"|first[ _-]?name|last[ _-]?name|full[ _-]?name|given[ _-]?name|family[ _-]?name|surname|vorname|nachname|familienname|pr(?:é|e)nom|nombre(?: completo)?|apellidos?|cognome|nome(?: completo)?|sobrenome|voornaam|achternaam|f(?:ö|o)rnamn|efternamn|fornavn|etternavn|imi(?:ę|e)(?: i nazwisko)?|nazwisko|jm(?:é|e)no|p(?:ř|r)(?:í|i)jmen(?:í|i)|n(?:é|e)v|soyad(?:ı|i)?|ad soyad"
    r"|ship to|bill to|deliver to|sold to|lieferadresse|rechnungsadresse|versand an|adresat|maiden name|next of kin|emergency contact|notfallkontakt|spouse|doctor|witness|interpreter)"
    r"|имя|Имя|фамилия|Фамилия|ФИО|клиент|Клиент|сотрудник|Сотрудник|姓名|氏名|이름|όνομα"
)
PERSON_LABEL = re.compile(PERSON_LABELS.encode())
MONTHS = r"(?:Jan|Feb|M(?:a|ä|á)r|Apr|Ma[iyj]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[czs]|janv|f(?:é|e)vr|mars|avr|mai|juin|juil|ao(?:û|u)t|enero|febr|marzo|abril|mayo|junio|julio|gen|mag|giu|lug|ago|set|ott|dic|stycz|lut|kwie|maj|czerw|lip|sierp|wrze|pa(?:ź|z)|list|grud)[a-zéûźäąńęśćó]{0,9}\.?"
DATE = rf"(?:[0-9]{{1,2}}[./-][ ]?[0-9]{{1,2}}[./-][ ]?(?:19|20)?[0-9]{{2}}|(?:19|20)[0-9]{{2}}[./-][0-9]{{1,2}}[./-][0-9]{{1,2}}|(?:19|20)[0-9]{{6}}|[0-9]{{1,2}}(?:\.|st|nd|rd|th|er|º)?[ ](?:de[ ])?(?i:{MONTHS})[ ,]{{1,2}}(?:de[ ])?(?:19|20)[0-9]{{2}}|(?i:{MONTHS})[ ][0-9]{{1,2}},?[ ](?:19|20)[0-9]{{2}}|(?:19|20)[0-9]{{2}}年[0-9]{{1,2}}月[0-9]{{1,2}}日)"
BIRTH = (
    r"(?i:birth[ _-]?(?:date|day)|date[ _-]?of[ _-]?birth|dateofbirth|birthdate|dob|d\.o\.b\.?|born(?:[ _]on|[ _]at|[ _]in)?|geburts(?:datum|tag)|geboren(?: am)?|geb\.?(?:[ -]?dat(?:um|\.)?)?"
    r"|geboorte(?:datum|dag)|date de naissance|naissance|n(?:é|e)(?:e|\(e\))? le|fecha de nac(?:imiento|\.)?|nacimiento|nacid[oa](?: el)?|data di nascita|nat[oa] il|data de nascimento|nascimento|nascid[oa] em"
    r"|data urodzenia|urodzon[ya]|ur\.|f(?:ö|o)delse(?:datum|dag)|f(?:ö|o)dd|f(?:ø|o)dselsdato|f(?:ø|o)dt|datum narozen(?:í|i)|narozen(?:a)?|syntym(?:ä|a)aika|syntynyt|sz(?:ü|u)let(?:é|e)si (?:d(?:á|a)tum|id(?:ő|o))|do(?:ğ|g)um tarihi|data na(?:ș|s)terii|datum rojstva|datum ro(?:đ|d)enja)"
    r"|дата рождения|Дата рождения|родил(?:ся|ась)|生年月日|出生日期|생년월일|ημερομηνία γέννησης"
)
COORDINATE = r"-?[0-9]{1,3}[.][0-9]{3,8}"
PLACE_LABELS = r"(?i:lat(?:itude)?|lon(?:g(?:itude)?)?|lng|gps(?:[ _-]?(?:position|latitude|longitude|coord(?:inate)?s?|location))?|coord(?:inate)?s?|location|position|geo|standort|ubicaci(?:ó|o)n|posizione|po(?:ł|l)o(?:ż|z)enie|wsp(?:ó|o)(?:ł|l)rz(?:ę|e)dne|koordinaten|coordonn(?:é|e)es|coordenadas|coordinate|locatie)"
NUMBER_LABELS = (
    r"(?i:passport|reisepass|passeport|pasaporte|passaporto|passaporte|paspoort|paszport(?:u)?|pass(?:nummer|nr\.?)|id[ -]?card|identity card|ausweis|personalausweis|carte d'identit(?:é|e)|carta d'identit(?:à|a)|dow(?:ó|o)d(?: osobisty)?|dowodu"
    r"|driv(?:er'?s|ing) licen[cs]e|f(?:ü|u)hrerschein|permis de conduire|patente|rijbewijs|prawo jazdy"
    r"|social security|s(?:é|e)curit(?:é|e) sociale|nir|ssn|sozialversicherungs(?:nummer)?|seguridad social|nss|sin"
    r"|personnummer|f(?:ö|o)delsenummer|f(?:ø|o)dselsnummer|cpr(?:-?nummer)?|henkil(?:ö|o)tunnus|hetu|isikukood|asmens kodas|personas kods|rodn(?:é|e) (?:č|c)(?:í|i)slo|pesel|cnp|egn|oib|jmbg|cpf|cuit|cuil|curp|dni|nie|nif|bsn|burgerservicenummer|codice fiscale|nino|national insurance(?: no| number)?|aadhaar|nric|my ?number|tckn|tc kimlik|nhs(?: number)?|medicare|ahv|numer dowodu|steuer(?:-?id|nummer|-identifikationsnummer)|national[ _-]?id|nationalid|tax[ _-]?id"
    r"|kundennummer|customer (?:no|number|id)|konto(?:nummer)?|insurance (?:no|number)|versicher(?:ungs|ten)(?:nummer|-?nr)|krankenkasse|licen[cs]e plate|kennzeichen|mrn|patient(?:en)?[ _-]?(?:id|nr|number))"
    r"|паспорт|Паспорт|СНИЛС|ИНН|身份证(?:号码?)?|マイナンバー|주민등록번호"
)
NUMBER = r"(?P<v>[A-Z]{0,6}[0-9](?:[0-9A-Z]|[ ./+-](?=[0-9A-Z])){4,24}|[A-Z]{2,6}[0-9A-Z]{5,16}|[A-Z][0-9A-Z]{6,16})"
PHONE_LABELS = (
    r"(?i:phone|mobile|cell|tel(?:efon(?:o|e|u|i|as|nummer|nr)?|(?:é|e)phone|(?:é|e)fono)?|fax|handy|mobil(?:nummer|telefon)?|r(?:ü|u)ckruf(?: unter)?|erreichbar unter|zadzwo(?:ń|n)|kom(?:ó|o)rka|numer telefonu|puhelin|telefonnummer|telefoonnummer|celular|cellulare|m(?:ó|o)vil|portable|whatsapp|sms|call(?: me)?(?: at| on)?|ring(?: me)?(?: at| on)?|text me(?: at| on)?|dial|reach(?: me)?(?: at| on)?|appel(?:ez|er)(?: le| au)?|ll(?:á|a)mame al|chiama(?:mi)?(?: al)?|bel(?: me)?(?: op)?|ring p(?:å|a)|hotline|direct line|durchwahl|contact no)"
    r"|телефон|Телефон|тел\.|电话|手机|電話|携帯|전화|휴대폰|τηλέφωνο"
)
GREETING = (
    r"(?:Gentile|Gentil[ei]|Egregi[oa]|Szanown[yai]|Drog[iao]|Kære|Kjære|K(?:ä|a)ra|K(?:ä|a)re|Hyv(?:ä|a)|V(?:á|a)žen(?:ý|á)|Mil(?:ý|á)|Kedves|Tisztelt|Say(?:ı|i)n|Sevgili|Stimat(?:ă|e)|Drag(?:ă|a)|Estimad[oa]|Querid[oa]|Prezad[oa]|Dear|Geachte|Beste|Lieve|Sehr geehrte[r]?|Liebe[r]?|Cher|Chère|Bonjour|Hola|Ciao|Hej|Hei|Hi|Hello|Hallo|Car[oa]|Witaj|Cze(?:ś|s)(?:ć|c)|Ahoj|Merhaba|Уважаем(?:ый|ая)|Здравствуйте,?|Привет,?)"
    r"[ ](?:(?:Sr|Sra|Srta|Dr|Mr|Mrs|Ms|Mx|Prof|Sig|Dott|M)\.?[ ]|(?:Herr|Frau|Pan|Pani|heer|mevrouw|Signora?|Señora?|Monsieur|Madame|Senhora?|Bay|Bayan)[ ])*"
)
CLOSING = r"(?:[vV]riendelijke groet(?:en)?|[gG]roet(?:en|jes)?|h(?:ä|a)lsning(?:ar)?|[hH]ilsen|[gG]r(?:ü|ue)(?:ß|ss)en?|Gru(?:ß|ss)|LG|VG|MfG|[pP]ozdrawiam(?: serdecznie)?|[pP]owa(?:ż|z)aniem|[pP]ozdravem|[üÜ]dvözlettel|[sS]aluti|[sS]aludos?|saludo(?: cordial)?|[aA]tentamente|[aA]tenciosamente|[cC]ordialement|[bB]ien à vous|[tT]erveisin|[sS]ayg(?:ı|i)lar(?:ı|i)mla|[rR]egards|[wW]ishes|[cC]heers|[tT]hanks|[tT]hank you|[sS]incerely|[bB]est|[gG]razie|[gG]racias|[dD]anke|[mM]erci|[oO]brigad[oa]|[aA]bra(?:ç|c)os?|[dD]zi(?:ę|e)kuj(?:ę|e)|[hH]vala|С уважением)[,.!]?"
DEVICES = r"(?:iPhone|iPad|MacBook(?:[ ](?:Pro|Air))?|Mac(?:[ ](?:mini|Studio|Pro))?|iMac|AirPods(?:[ ]Pro)?|Apple Watch|Watch|Laptop|laptop|PC|Computer|Desktop|Galaxy(?:[ ][A-Z][0-9]{1,2})?|Pixel(?:[ ][0-9]{1,2})?|ThinkPad|Surface|Kindle|phone|Phone|Handy|Echo|Xbox)"
MACHINE = r"[A-Z][A-Z0-9]{2,14}-(?:LAPTOP|PC|DESKTOP|MACBOOK|MBP|NOTEBOOK|WORKSTATION|SURFACE|NB|THINKPAD|IMAC)[0-9]{0,3}"
CITY = rf"{NAME_WORD}(?:[ -](?:{PARTICLE}[ -])?{NAME_WORD}){{0,3}}"
POSTAL = rf"(?:(?:[A-Z]{{1,2}}-)?[0-9]{{4,5}}(?:-[0-9]{{3,4}})?|[0-9]{{3}}[ ][0-9]{{2}}|[0-9]{{2}}-[0-9]{{3}}|[0-9]{{4}}[ ]?[A-Z]{{2}})[ ]{CITY}"
BRITISH = rf"{CITY},?[ ](?:[A-Z]{{2}}[ ])?(?:[A-Z]{{1,2}}[0-9][0-9A-Z]?[ ][0-9][A-Z]{{2}}|[A-Z]{{2}}[ ][0-9]{{5}}(?:-[0-9]{{4}})?)"
STREET_NUMBER = rf"(?:{NAME_WORD}|ul\.|al\.|Av\.|C/)(?:[ -](?:{PARTICLE}[ ])?{NAME_WORD}){{0,4}}[ ,]{{1,2}}(?:n[º°o]?\.?[ ]?)?[0-9]{{1,4}}(?:[ ]?[A-Za-z](?![A-Za-z]))?(?:[/-][0-9]{{1,4}})?"
NUMBER_STREET = rf"[0-9]{{1,5}}(?:[ ]?(?:bis|ter|[A-D]))?,?[ ](?:rue|avenue|boulevard|chemin|place|[NESW]|{NAME_WORD})(?:[ ](?:{PARTICLE}[ ])?{NAME_WORD}){{0,4}}"
FULL_ADDRESS = rf"(?:{STREET_NUMBER}|{NUMBER_STREET})(?:,[ ][^,\n]{{1,12}})?,?(?:[ ]|\r?\n[ \t]*)(?:{POSTAL}|{BRITISH})"
ADDRESS_LABELS = r"(?:(?i:addr(?:ess)?[12]?|anschrift|adress(?:e|a)?|direcci(?:ó|o)n|indirizzo|endere(?:ç|c)o|adres(?:a|i)?|osoite|domicili?o|wohnhaft(?: in)?|residence|lives at|ship(?:ping)? to|deliver to|lieferung an|livrer (?:à|a)|bezorgen op|dostawa|na adres)|адрес|Адрес|住所|地址|주소)"
ZIP_LABELS = r"(?i:(?:[a-z]+_)?(?:zip(?:_?code)?|post_?code|postal_?code|plz|postleitzahl|code_postal|cod(?:igo)?_?postal|kod_pocztowy|postnummer))"


USER_HEAD = re.compile(
    "(?i)\\A(?:user(?:[ _-]?name|[ _-]?id)?|login|benutzer(?:name)?|usuario|utente|utilisateur|gebruiker|u(?:ż|z)ytkownik|логин)\\Z".encode()
)
PHONE_HEAD = re.compile(rb"(?i)phone|tel|mobil|handy|cell|fax|celular|telefon")
BIRTH_HEAD = re.compile(
    rb"(?i)birth|gebur|geboor|naiss|nacim|nascit|nascim|urodz|dob\Z|f\xc3\xb6dels"
)
PLACE_HEAD = re.compile(
    rb"(?i)\A(?:street|address|addr|stra(?:\xc3\x9f|ss)e|adres\w*|anschrift|calle|via|rue|city|town|stadt|ort|ville|ciudad|citt\S+|miasto|plaats|zip|plz|post\w*|cap|cp)\Z"
)
PHONE_CELL = re.compile(rb"\(?\+?[0-9][0-9 ()./-]{5,20}[0-9]")
PLACE_CELL = re.compile(rf"(?:{UPPER}|[0-9])[^|;\t<>={{}}]{{2,60}}".encode())
LOGIN_CELL = re.compile(rb"[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*")
PEOPLES_HEADS: tuple[tuple[re.Pattern[bytes], Callable[[bytes], bool]], ...] = (
    (NAME_HEAD, lambda cell: NAME_CELL.fullmatch(cell) is not None),
    (USER_HEAD, lambda cell: LOGIN_CELL.fullmatch(cell) is not None and is_login(cell)),
    (PHONE_HEAD, lambda cell: PHONE_CELL.fullmatch(cell) is not None),
    (BIRTH_HEAD, lambda cell: re.fullmatch(DATE.encode(), cell) is not None),
    (PLACE_HEAD, lambda cell: PLACE_CELL.fullmatch(cell) is not None),
)
"""The heads of what people have, and the forms of their cells."""


def _person(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a name after a label, unless it is a program's or a team's."""
    if match.start and text[match.start - 1 : match.start].isalnum():
        return NOTHING
    found = text[slice(*value)]
    is_bad = not is_person(found) or LABEL_WORD.search(found) or PERSON_LABEL.fullmatch(found)
    return NOTHING if is_bad else (value,)


def _apart(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what stands for itself: no letter before its label, no digit behind it."""
    before = text[match.start - 1 : match.start]
    return NOTHING if before.isalpha() or text[value.end : value.end + 1].isdigit() else (value,)


ISO_DAY = re.compile(rb"(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}")


def _number(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the number of a document or of a person after its name."""
    found = text[slice(*value)]
    digits = sum(48 <= number <= 57 for number in found)
    before = text[match.start - 1 : match.start]
    is_word = digits < 4 or text[value.end : value.end + 1].isalnum() or is_placeholder(found)
    return NOTHING if is_word or before.isalnum() or ISO_DAY.match(found) else (value,)


def _phone(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a number with as many digits as telephone numbers have."""
    found = text[slice(*value)]
    digits = re.sub(rb"[^0-9]", b"", found)
    before = text[match.start - 1 : match.start]
    is_no = not 7 <= len(digits) <= 15 or len(set(digits)) < 3
    is_no = is_no or ISO_DAY.match(found) is not None
    is_no = is_no or before.isalnum() or text[value.end : value.end + 1].isalnum()
    return NOTHING if is_no or digits in b"01234567890123456789" else (value,)


SECOND = re.compile(rf"[ ]*[,;/ ][ ]*(?P<v>{COORDINATE})".encode())


def _place(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match one or two coordinates after a word for a place."""
    before = text[match.start - 1 : match.start]
    more = SECOND.match(text, value.end)
    is_single = re.match(rb"(?i)lat|lon|lng|gps", text[slice(*match)])
    if before.isalpha() or not (more or is_single):
        return NOTHING
    return (value, TextSpan(*more.span("v"))) if more else (value,)


OTHER_FIELDS = re.compile(
    rb"(?i)born|birth|dob\b|e-?mail|@|phone|tel\b|mobil|address|adres|street|zip|gebur|nasc|nacim|urodz|ssn|passport|gender|salary"
)


def _named_near(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a name in a record that also has what people have."""
    around = text[max(0, match.start - 120) : value.end + 160]
    return _person(text, match, value) if OTHER_FIELDS.search(around) else NOTHING


def _inserted(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the names in rows of a table of people, if an address shows that they are."""
    end = text.find(b";", match.end, match.end + 2000)
    end = end if end >= 0 else min(len(text), match.end + 2000)
    if b"@" not in text[match.end : end]:
        return NOTHING
    found = re.finditer(rb"'(" + NAME_CELL.pattern + rb")'", text[match.end : end])
    spans = (TextSpan(match.end + a, match.end + b) for a, b in (m.span(1) for m in found))
    return tuple(span for span in spans if is_person(text[slice(*span)]))


def _queue(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the users in a table of capitals with a column for them."""
    line = line_at(text, match.start)
    heads = re.split(rb"[\[>\"]", text[slice(*line)])[-1].split()
    if b"USER" not in heads or len(heads) < 3 or not all(head.isupper() for head in heads):
        return NOTHING
    spans: list[TextSpan] = []
    for row in iter_rows(text, line.end + 1):
        words = list(re.finditer(rb"[^\s]+", text[slice(*row)]))
        if len(words) < len(heads) - 1:
            break
        word = words[min(heads.index(b"USER"), len(words) - 1)]
        if is_somebody(word[0]) and re.fullmatch(rb"[a-z_][a-z0-9_.-]{2,31}", word[0]):
            spans.append(TextSpan(row.start + word.start(), row.start + word.end()))
    return tuple(spans)


def _street(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a street with its city, line by line."""
    found = text[slice(*value)]
    if not is_person(found.partition(b",")[0]) and b"Street" not in found and b"Road" not in found:
        return NOTHING
    lines = re.finditer(rb"[^\r\n]*[^\s]", found)
    return tuple(TextSpan(value.start + a, value.start + b) for a, b in (m.span() for m in lines))


ADDRESS = re.compile(
    rf"(?:{STREET_NUMBER}|{NUMBER_STREET})(?:,.{{1,60}})?|.{{3,40}},[ ]?(?:{POSTAL}|{BRITISH}).{{0,20}}".encode()
)


def _address_line(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the rest of a line after a word for an address, if it has a name and a number."""
    found = text[slice(*value)].rstrip()
    before = text[match.start - 1 : match.start]
    if before.isalpha() or not ADDRESS.fullmatch(found):
        return NOTHING
    return (TextSpan(value.start, value.start + len(found)),)


def _city(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a city with its post code at the start of a line or after a street."""
    before = text[max(0, value.start - 60) : value.start]
    is_line = re.search(rb"(?:\A|[0-9][^\n]*)(?:\n[ \t]*|,[ ])\Z", before) is not None
    return (value,) if is_line or not before else NOTHING


def _device(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a device that is named after somebody."""
    name = re.split(rb"'s|\xe2\x80\x99s", text[slice(*value)])[0]
    return (value,) if is_person(name) else NOTHING


LABEL_END = (
    r"""["'`\])*]{0,3}(?:[ .-]?(?i:no|nr|number|num|nummer|n[º°o]|#|id|code)\b\.?)?["'`\])*]{0,3}"""
)
JOIN = r"(?:[ \t]*(?:=>|[:=;,|\t>→]|is|ist|est|es|è|jest|är|er|：)[ \t]*|[ ])"
PERSON_JOIN = r"(?:[ \t]*(?:=>|[:=;,|\t]|：|>)[ \t]*|:[ ]*\r?\n[ \t]*)"
Q = r"""["'`]?"""
COLON = r"[ ]?(?:=>|[:=;|\t>])[ ]?"
BREAK = r"(?:[ ]*\r?\n[ \t]*|[ ]*<br[ ]?/?>[ ]*|,[ ])"
STREET_LINE = rf"(?:{STREET_NUMBER}|{NUMBER_STREET})"
ADDRESS_BLOCK = re.compile(
    rf"(?P<v>({FULL_NAME}){BREAK}({STREET_LINE}){BREAK}((?:[A-Z]{{1,2}}-)?[0-9]{{4,6}}[ ]{CITY}|{POSTAL}|{BRITISH}))".encode()
)
USER_LABELS = (
    r"(?:(?i:user[ _-]?name|user[ _-]?id|login(?:[ _-]?name)?|benutzer(?:name)?|nom d'utilisateur|utilisateur|nombre de usuario|usuario|nome utente|utente|nome de usu(?:á|a)rio"
    r"|gebruiker(?:snaam)?|u(?:ż|z)ytkownik|nazwa u(?:ż|z)ytkownika|u(?:ž|z)ivatel(?:sk(?:é|e) jm(?:é|e)no)?|kullan(?:ı|i)c(?:ı|i)(?: ad(?:ı|i))?|anv(?:ä|a)ndar(?:e|namn)|bruger(?:navn)?|bruker(?:navn)?"
    r"|k(?:ä|a)ytt(?:ä|a)j(?:ä|a)(?:tunnus|nimi)?|felhaszn(?:á|a)l(?:ó|o)(?:n(?:é|e)v)?|utilizator|sam[ _-]?account[ _-]?name|default[ _-]?user[ _-]?name|ssh[ _-]?user|uid|\buser)"
    r"|логин|Логин|пользователь|Пользователь|имя пользователя|Имя пользователя|ユーザー名?|用户名?|帐号|账号|사용자명?)"
)
LOGIN = r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*"
DEVICE_WORDS = r"(?:[dD]esktop|[lL]aptop|[mM]ac[bB]ook|mbp|MBP|i[mM]ac|[iI][pP]hone|[iI][pP]ad|pc|PC|[gG]alaxy|[pP]ixel|[tT]hink[pP]ad|[wW]orkstation|[nN]otebook|[sS]urface|nuc|NUC|x1|X1|[wW]atch|[pP]hone|[tT]ablet|[aA]ndroid)"
PERSONAL: tuple[Family, ...] = (
    account_number(
        "address-block",
        ADDRESS_BLOCK.pattern.decode(),
        _address_block,
        is_many=True,
        trigger=rf"{UPPER}[^\s<>,]+[ ][^\n<>,]+(?:\r?\n[ \t]*|<br[ ]?/?>)[^\n<>]*[0-9][^\n<>]*(?:\r?\n[ \t]*|<br[ ]?/?>|,[ ])(?:[A-Z]+-)?[0-9]{{4}}",
    ),
    user_name(
        "user-label",
        rf"{USER_LABELS}{Q}\)?[ \t]*(?:=>|:=|[:=]|：|</[A-Za-z]+>[ ]*<[A-Za-z]+>|{Q}[ ]value=)[ \t]*(?P<q>{Q})(?P<v>{LOGIN})(?=(?P=q)(?:[\s\"'`<>,;|)\]}}&/]|\Z))(?!\"?[ ]*\()",
        _likely_login,
        trigger=rf"{USER_LABELS}{Q}\)?[ \t]*(?:=>|:=|[:=]|：|</[A-Za-z]+>[ ]*<[A-Za-z]+>|[ ]value=)",
    ),
    user_name(
        "user-given",
        rf"(?:[ ](?:-SamAccountName|--username|--user|--login|smbpasswd -a|-password -a)[ =]|add name=|--name=|Added user |[lL]ogged in to [a-z.]+ account |IDENTIFY |\buid=|PSCredential \(\"[A-Z]+\\+|[A-Z]{{2,15}}\\{{1,2}}){Q}(?P<v>{LOGIN})(?=[\s\"'`<>,;|)&.]|\Z)",
        _likely_login,
        trigger=r"(?:[ ](?:-SamAccountName|--username|--user|--login|smbpasswd -a|-password -a)[ =]|add name=|--name=|Added user |[lL]ogged in to [a-z.]+ account |IDENTIFY |\buid=|[A-Z]\\{1,2}[a-z])",
    ),
    user_name(
        "url-user",
        rf"://(?P<v>{LOGIN}):[^\s@/]+@",
        _likely_login,
        trigger=r"://[A-Za-z0-9._-]+:[^\s@/]+@",
    ),
    user_name(
        "shadow-user",
        rf"(?P<v>{LOGIN}):(?:[!*]|\$[0-9a-z]{{1,3}}\$[^:\n]{{20,}}):[0-9]{{5}}:",
        _login_name,
        trigger=r"[a-z0-9]:(?:[!*]|\$[0-9a-z]+\$[^:\n]+):[0-9]{5}:",
    ),
    user_name(
        "key-comment",
        rf"(?:SHA256:[A-Za-z0-9+/=]{{20,}}|AAAA[A-Za-z0-9+/=]{{20,}}|Comment:)[ ]\"?(?P<v>{LOGIN}@{LOGIN})",
        lambda text, match, value: (
            (value,) if is_login(text[slice(*value)].partition(b"@")[0]) else NOTHING
        ),
        trigger=r"(?:SHA256:[A-Za-z0-9+/=]{20,}|AAAA[A-Za-z0-9+/=]{20,}|Comment:)[ ]\"?[A-Za-z0-9._-]+@",
    ),
    host_name(
        "named-device",
        rf"(?P<v>[A-Za-z]{{3,20}}s?-{DEVICE_WORDS}[A-Za-z0-9-]*)",
        _named_device,
        trigger=rf"[A-Za-z]-{DEVICE_WORDS}",
    ),
    account_number(
        "card-name",
        r"(?m:^)N(?:;[^:\n]*)?:(?P<v>[^\n]{3,80})",
        _card_fields,
        trigger=r"(?m:^)N(?:;[^:\n]*)?:[^\n]*;",
    ),
    account_number(
        "card-address", r"\bADR[^:\n]*:(?P<v>[^\n]{5,120})", _card_fields, trigger=r"\bADR[^:\n]*:"
    ),
    account_number(
        "iban-label",
        r"(?i:iban)[^A-Za-z0-9\n]{1,8}(?P<v>[A-Z]{2}[0-9]{2}[ ]?(?:[A-Z0-9]{4}[ ]?){2,7}[A-Z0-9]{1,4})",
        _apart,
    ),
    account_number(
        "tagged-place",
        r"<(?:Street|Strasse|City|Town|PostalZone|ZipCode|Zip|CityName|StreetName|AddressLine[0-9]?|Ort|PLZ)(?:[ ][^>\n]*)?>(?P<v>[^<>\n]{2,60})</",
        _apart,
        trigger=r"<(?:Street|Strasse|City|Town|PostalZone|ZipCode|Zip|CityName|StreetName|AddressLine[0-9]?|Ort|PLZ)[ >]",
    ),
    account_number(
        "birth",
        rf"(?:{BIRTH}){LABEL_END}{JOIN}{{0,2}}{Q}(?P<v>{DATE})",
        _apart,
        trigger=rf"\b(?:{BIRTH})[^\n0-9]*[0-9]",
    ),
    account_number(
        "document",
        rf"(?:{NUMBER_LABELS}){LABEL_END}{JOIN}{{0,2}}{Q}{NUMBER}",
        _number,
        trigger=rf"\b(?:{NUMBER_LABELS})[^\n0-9]*[0-9]",
    ),
    phone_number(
        "phone-label",
        rf"(?:{PHONE_LABELS}){LABEL_END}{JOIN}{{0,2}}{Q}(?P<v>\(?(?:\+|00)?[0-9][0-9 ()./-]{{5,20}}[0-9])",
        _phone,
        trigger=rf"\b(?:{PHONE_LABELS})[^\n0-9]*[0-9]",
    ),
    account_number(
        "place",
        rf"(?:{PLACE_LABELS}){LABEL_END}{JOIN}{{0,2}}[\[({{]?{Q}(?P<v>{COORDINATE})",
        _place,
        is_many=True,
        trigger=rf"\b(?:{PLACE_LABELS})[^\n0-9]*[0-9]+\.[0-9]{{3}}",
    ),
    account_number(
        "full-address",
        rf"(?P<v>{FULL_ADDRESS})",
        _street,
        trigger=rf"\b(?:{UPPER}[^\n,]*[ ][0-9]+[ ]?[A-Za-z]?(?:,[ ][^,\n]+)?,?[ \n]+[0-9]{{3}}|[0-9]+[ ][A-Z][^\n]*[ ,\n][^\n]*[0-9][A-Z]{{2}}\b)",
    ),
    account_number(
        "address-label",
        rf"(?:{ADDRESS_LABELS}){LABEL_END}[ ]?(?:[:=]|[ ]){Q}[ ]?{Q}(?P<v>(?:{UPPER}|[0-9])[^\n\"'`<>{{}}|=;]{{5,90}}?)(?=[\"'`<|;]|[ ]*(?:\r?\n|\Z))",
        _address_line,
        trigger=rf"\b(?:{ADDRESS_LABELS})[^\n]*[0-9]",
    ),
    account_number(
        "city-line",
        rf"(?P<v>{BRITISH})(?=[\s\"',.;<]|\Z)",
        _city,
        trigger=r"[A-Z][a-z]+,?[ ](?:[A-Z]{2}[ ])?(?:[A-Z]{1,2}[0-9][0-9A-Z]?[ ][0-9][A-Z]{2}\b|[A-Z]{2}[ ][0-9]{5}\b)",
    ),
    account_number(
        "zip", rf"{ZIP_LABELS}{Q}{COLON}{Q}(?P<v>[0-9A-Z]{{2,5}}[ -]?[0-9A-Z]{{2,5}})\b", _number
    ),
    user_name(
        "name-table",
        r"[A-Za-z_]*(?:[nN]ame|NAME|[nN]om|imi|nazwisko|cognome|apellido|klient|customer|employee|patient)[A-Za-z_]*[\t|;,]",
        _name_table,
        is_many=True,
    ),
    user_name(
        "person-label",
        rf"(?:{PERSON_LABELS}){LABEL_END}{PERSON_JOIN}{Q}(?P<v>{FULL_NAME}){END}",
        _person,
        trigger=rf"\b(?:{PERSON_LABELS}){LABEL_END}{PERSON_JOIN}{Q}[A-Z\xc3-\xd3][a-z\x80-\xff]",
    ),
    user_name(
        "upper-person",
        rf"(?:{PERSON_LABELS}){LABEL_END}(?:{PERSON_JOIN}|[ ])?{Q}(?P<v>{UPPER_NAME}){END}",
        _person,
        trigger=rf"\b(?:{PERSON_LABELS}){LABEL_END}(?:{PERSON_JOIN}|[ ]){Q}[A-Z\xc3-\xd3][A-Z\x80-\xff][A-Z\xc3-\xd3]",
    ),
    user_name(
        "named-near",
        rf"name{Q}[ ]?(?:=>|[:=])[ ]?{Q}(?P<v>{FULL_NAME}){END}",
        _named_near,
        trigger=rf"\bname{Q}[ ]?(?:=>|[:=])[ ]?{Q}[A-Z\xc3-\xd3]",
    ),
    user_name(
        "greeting",
        rf"{GREETING}(?P<v>{NAME_WORD}(?:[ ](?:{PARTICLE}[ ])?{NAME_WORD}){{0,2}})(?=[,:!])",
        _person,
        trigger=rf"\b{GREETING}[A-Z\xc3-\xd3]",
    ),
    user_name(
        "closing",
        rf"{CLOSING}[ ]*(?:\r?\n[ \t]*){{1,2}}(?:--?[ ]?)?(?P<v>{FULL_NAME})(?=[ ]*(?:\r?\n|\Z|[\"'<,|]))",
        _person,
        trigger=rf"{CLOSING}[ ]*(?:\r?\n[ \t]*)+(?:--?[ ]?)?[A-Z\xc3-\xd3]",
    ),
    user_name(
        "copyright",
        rf"(?:Copyright|©)(?:[ ]\([cC]\)|[ ]©)?,?[ ](?:19|20)[0-9]{{2}}(?:[ ]?[-–,][ ]?(?:(?:19|20)[0-9]{{2}}|present))?,?[ ](?:by[ ])?(?P<v>{FULL_NAME}){END}",
        _person,
        trigger=r"(?:Copyright|©)(?:[ ]\([cC]\)|[ ]©)?,?[ ](?:19|20)[0-9]{2}",
    ),
    user_name(
        "inserted-people",
        r"(?i:insert into)[ ][`\"]?(?i:[a-z_.]*(?:customer|user|people|person|employee|client|patient|contact|member|kunde|klient)[a-z_]*)",
        _inserted,
        is_many=True,
    ),
    user_name("queue", r"\bUSER\b[ ]", _queue, is_many=True),
    host_name(
        "device",
        rf"(?P<v>{NAME_WORD}(?:'s|’s)[ ]{DEVICES})(?![A-Za-z])",
        _device,
        trigger=rf"{UPPER}[a-z\x80-\xff]+(?:'s|’s)[ ]{DEVICES}",
    ),
    host_name("desktop", rf"(?P<v>{MACHINE})\b", _apart, trigger=rf"\b{MACHINE}\b"),
)
GATES_OF_PEOPLE = (
    rf"{USER_LABELS}[\"'`\\]*\)?[ \t]*(?:=>|:=|[:=]|：|</[A-Za-z]+>[ ]*<[A-Za-z]+>|[ ]value=)|-SamAccountName|smbpasswd -a|-password -a|--name=|Added user |[lL]ogged in to |IDENTIFY |\buid=|PSCredential"
    rf"|://[A-Za-z0-9._-]+:[^\s@/]+@|[a-z0-9]:(?:[!*]|\$[0-9a-z]+\$[^:\n]+):[0-9]{{5}}:|SHA256:[A-Za-z0-9+/=]{{20}}|AAAA[A-Za-z0-9+/]{{20}}|Comment:[ ]|[A-Za-z]-{DEVICE_WORDS}|\bN:[A-Z]|\bADR[:;]|(?i:iban)|<(?:City|Street|Ort|PLZ|Zip)"
    r"|(?:\n|\\n|<br[ ]?/?>|,[ ])(?:[A-Z]+-)?[0-9]{4,6}[ ][A-Z]|(?i:birth|phone|telefon|user|login|benutzer|usuario)[a-z_]*[\"']?[;,|\t\\]",
    rf"\b(?:{BIRTH})[^\n0-9]*[0-9]|\b(?:{NUMBER_LABELS}|{PHONE_LABELS}|{PLACE_LABELS})[^A-Za-z0-9\n]+[A-Za-z]*[^A-Za-z0-9\n]*[A-Z]*[0-9][0-9A-Z ()./-]{{3}}",
    rf"\b(?:{PERSON_LABELS})\b[^A-Za-z ]+[ ]?[^A-Za-z\n ]*[A-Z\xc3-\xd3][a-z\x80-\xff]|\bname\b[^A-Za-z ]+[ ]?[^A-Za-z\n ]*[A-Z\xc3-\xd3][a-z\x80-\xff]+[ ](?:[a-z]+[ ])*[A-Z\xc3-\xd3]|\b(?:{ADDRESS_LABELS}|{ZIP_LABELS})[^A-Za-z0-9\n]+[A-Z0-9\xc3]"
    rf"|\b{GREETING}[A-Z\xc3-\xd3]|\b{CLOSING}[ ]*[\r\n\\]|Copyright[ (]|[a-z](?:'|’)s[ ]{DEVICES}|(?i:insert into)[ ]|\bUSER\b[ ]|(?i:holder|titular)[ ][A-Z]|(?i:imi(?:ę|e)|nazwisko|vorname|nachname|first_?name|last_?name|surname|apellidos?|cognome|nombre|pr(?:é|e)nom)[\"']?[;,|\t\\]"
    r"|[A-Z]-(?:LAPTOP|PC|DESKTOP|MACBOOK|MBP|NOTEBOOK|WORKSTATION|SURFACE|NB)\b|[a-z\x80-\xff][ ][0-9]+[ ]?[A-Za-z]?,[ ][0-9]{4}",
)
"""What makes a text worth a second look for personal data."""
