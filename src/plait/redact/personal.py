"""Personal data after labels, in texts without wrapping: names, births, numbers, phones, places.

The labels are words of some twenty languages; what follows one of them has the form of its kind.
"""

import re
from collections.abc import Iterator

from plait.redact.labelled import (
    HEAD_LINE,
    LABEL_WORD,
    RULE,
    SEPARATORS,
    Cell,
    iter_rows,
    line_at,
    parse_cells,
)
from plait.redact.likelihood import NOTHING, any_value, is_placeholder
from plait.redact.model import (
    Family,
    TextSpan,
    account_number,
    host_name,
    phone_number,
    user_name,
)
from plait.redact.names import is_person
from plait.redact.people import ALSO, is_login, is_machine, is_somebody

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
    rb"(?i)mail|phone|tel|mobil|address|adres|adress|birth|geb|dob\b|ssn|passport|salary|city|stadt|miasto|ville|ciudad|citt|street|zip|plz|iban|surname|last|nach|nazwisko|apellido|cognome|nom\b|efternamn"
)
USER_HEAD = re.compile(
    rb"(?i)\A(?:user(?:[ _-]?(?:name|id))?|login|account|owner|author|benutzer(?:name)?|utilisateur|usuario|utente|nazwa|uzytkownik|gebruiker|anv(?:\xc3\xa4)?ndare?|assignee|created[ _]by)\Z"
)
PASSWORD_HEAD = re.compile(
    rb"(?i)pass|pw\b|pwd|secret|token|has(?:\xc5\x82|l)o|heslo|contrase|senha|wachtwoord|kennwort"
)
# Heads of columns of other personal data, and what their cells look like.
CELLS: tuple[tuple[re.Pattern[bytes], re.Pattern[bytes]], ...] = tuple(
    (re.compile(rf"(?i)\A(?:{head})\Z".encode()), re.compile(cell.encode()))
    for head, cell in (
        (
            r"(?:mobile|cell|home|work|contact)?[ _-]?(?:phone|tel(?:efon(?:o|nummer)?|ephone)?|mobile?|handy|fax|cell|gsm|m(?:ó|o)vil|rufnummer|t(?:é|e)l(?:é|e)phone)(?:[ _-]?(?:no|nr|number|nummer))?",
            r"\(?\+?[0-9][0-9 ()./-]{5,20}[0-9]",
        ),
        (
            r"(?:date[ _]of[ _])?birth(?:[ _-]?(?:date|day))?|dob|born|geburts(?:datum|tag)|geboren|naissance|date[ _]de[ _]naissance|fecha[ _]nac\w*|data[ _]urodzenia|nascita|data[ _]nascita|f(?:ö|o)delsedatum",
            r"[0-9]{1,4}[./ -][0-9A-Za-z]{1,9}[./ -][0-9]{2,4}",
        ),
        (
            r"ssn|social[ _]security(?:[ _](?:no|number))?|iban|konto(?:nummer)?|account[ _](?:no|number)|passport(?:[ _](?:no|number))?|national[ _]?id|tax[ _]?id|steuer(?:-?id|nummer)|pesel|dni|nif|cpf|bsn|nino|personnummer|insurance[ _](?:no|number)|card(?:[ _]number)?",
            r"(?=[^\n]*[0-9]{3})[A-Z0-9][A-Z0-9 ./-]{5,40}",
        ),
        (
            r"street|stra(?:ß|ss)e|address|adresse|anschrift|adres|direcci(?:ó|o)n|indirizzo|rue|ulica|endere(?:ç|c)o",
            r"[^\n]*(?:[A-Za-z\x80-\xff]{3}[^\n]*[ ][0-9]{1,5}|[0-9]{1,5}[ ,]+[A-Z])[^\n]{0,80}",
        ),
    )
)


def _iter_columns(text: bytes, place: int) -> Iterator[tuple[list[Cell], list[list[Cell]]]]:
    """Yield the heads of a table whose head line has a position, and its rows, by each separator."""
    line = line_at(text, place)
    field = text.rfind(b'": "', line.start, place)
    line = TextSpan(field + 4 if field >= 0 else line.start, line.end)
    head = text[slice(*line)]
    if HEAD_LINE.fullmatch(head) is None:
        return
    for sign in SEPARATORS:
        if sign not in head:
            continue
        heads = [
            cell._replace(text=cell.text.split(b"  ")[-1])  # without the margin of a result
            for cell in parse_cells(text, line.start, line.end, sign)
        ]
        rows: list[list[Cell]] = []
        for row in iter_rows(text, line.end + 1):
            if RULE.match(text[slice(*row)]):
                continue
            cells = parse_cells(text, row.start, row.end, sign)
            if len(cells) != len(heads):
                break
            rows.append(cells)
        yield heads, rows


def _name_table(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the names in a table that also has a column for what people have."""
    for heads, rows in _iter_columns(text, match.start):
        columns = [n for n, cell in enumerate(heads) if NAME_HEAD.match(cell.text)]
        others = [cell.text for n, cell in enumerate(heads) if n not in columns[:1]]
        if columns and any(OTHER_HEAD.search(other) for other in others):
            cells = [cells[n] for cells in rows for n in columns]
            return tuple(cell.span for cell in cells if NAME_CELL.fullmatch(cell.text))
    return NOTHING


def _user_table(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the names of accounts in a table of them and their passwords."""
    for heads, rows in _iter_columns(text, match.start):
        columns = [n for n, cell in enumerate(heads) if USER_HEAD.match(cell.text)]
        if columns and any(PASSWORD_HEAD.search(cell.text) for cell in heads):
            cells = [cells[n] for cells in rows for n in columns]
            return tuple(cell.span for cell in cells if is_login(cell.text))
    return NOTHING


def _number_table(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what belongs to people in a table: numbers, days of birth, streets."""
    for heads, rows in _iter_columns(text, match.start):
        names = [n for n, cell in enumerate(heads) if NAME_HEAD.match(cell.text)]
        forms = [
            (n, form)
            for n, cell in enumerate(heads)
            for head, form in CELLS
            if head.match(cell.text)
        ]
        if len(names) + len(forms) > 1:
            cells = [(cells[n], form) for cells in rows for n, form in forms]
            return tuple(cell.span for cell, form in cells if form.fullmatch(cell.text))
    return NOTHING


END = r"""(?=["'`<>,;|)(\]}\t:!]|[ ]*(?:\r?\n|\Z)|[ ](?:[-–—(<|&/]|and|und|et|y|oder|from|at|aus|von|z|has|hat|is|ist)[ ]?|\.[ \r\n]|\.\Z)"""
PERSON_LABELS = (
    r"(?i:customer|client|kunde|kundin|klient(?:ka|in)?|cliente|employee|mitarbeiter(?:in)?|pracownik|empleado|dipendente|medewerker|anst(?:ä|a)lld|zam(?:ě|e)stnanec|funcion(?:á|a)rio|employ(?:é|e)e?|ty(?:ö|o)ntekij(?:ä|a)|asiakas|kund|medarbejder|z(?:á|a)kazn(?:í|i)k|ügyfél|m(?:ü|u)(?:ş|s)teri"
    r"|patient(?:in)?|paciente|paziente|pacjent(?:ka)?|contact(?: person)?|ansprechpartner(?:in)?|contacto|contatto|kontakt|contactpersoon"
    r"|card[ _-]?holder|account[ _-]?holder|kontoinhaber(?:in)?|titular|intestatario|titulaire|posiadacz|rekeninghouder"
    r"|recipient|empf(?:ä|a)nger(?:in)?|destinat(?:ario|(?:á|a)rio|aire)|odbiorca|ontvanger|mottagare|attn|attention|z\.?[ ]?hd\.?|beneficiary|payee"
    r"|owner|besitzer|propietario|proprietario|propri(?:é|e)taire|w(?:ł|l)a(?:ś|s)ciciel|eigenaar|inhaber(?:in)?|signed by|signatory|guest|passenger|tenant|mieter(?:in)?|insured|student|sch(?:ü|u)ler(?:in)?|teacher|lehrer(?:in)?|manager|supervisor|assignee|reporter|requester|reviewer|author|autor(?:in|a)?|auteur|autore"
    r"|first[ _-]?name|last[ _-]?name|full[ _-]?name|given[ _-]?name|family[ _-]?name|surname|vorname|nachname|familienname|pr(?:é|e)nom|nombre(?: completo)?|apellidos?|cognome|nome(?: completo)?|sobrenome|voornaam|achternaam|f(?:ö|o)rnamn|efternamn|fornavn|etternavn|imi(?:ę|e)(?: i nazwisko)?|nazwisko|jm(?:é|e)no|p(?:ř|r)(?:í|i)jmen(?:í|i)|n(?:é|e)v|soyad(?:ı|i)?|ad soyad"
    r"|ship to|bill to|deliver to|sold to|lieferadresse|rechnungsadresse|versand an|adresat|maiden name|next of kin|emergency contact|notfallkontakt|spouse|doctor|witness|interpreter"
    r"|registered[ _-]?(?:to|owner)|licensed to|caller[ _-]?id|(?:user|real|display|caller|sender|recipient|buyer|seller|driver|holder|billing|shipping)[ _-]?(?:full)?name|common[ _-]?name|cn|nm|host|hosted by|organi[sz]er|attendees?|speaker|candidate|applicant"
    r"|sender|absender|exp(?:é|e)diteur|remitente|mittente|nadawca|afzender|debtor|creditor|consignee|physician|technician|buyer|seller|point of contact|creator|approver|maintainer|kontaktperson|sachbearbeiter(?:in)?|bearbeiter(?:in)?|ersteller(?:in)?)"
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
    r"(?i:iban|pan|passport|reisepass|passeport|pasaporte|passaporto|passaporte|paspoort|paszport(?:u)?|pass(?:nummer|nr\.?)|id[ -]?card|identity card|ausweis|personalausweis|carte d'identit(?:é|e)|carta d'identit(?:à|a)|dow(?:ó|o)d(?: osobisty)?|dowodu"
    r"|driv(?:er'?s|ing) licen[cs]e|f(?:ü|u)hrerschein|permis de conduire|patente|rijbewijs|prawo jazdy"
    r"|social security|s(?:é|e)curit(?:é|e) sociale|nir|ssn|sozialversicherungs(?:nummer)?|seguridad social|nss|sin"
    r"|personnummer|f(?:ö|o)delsenummer|f(?:ø|o)dselsnummer|cpr(?:-?nummer)?|henkil(?:ö|o)tunnus|hetu|isikukood|asmens kodas|personas kods|rodn(?:é|e) (?:č|c)(?:í|i)slo|pesel|cnp|egn|oib|jmbg|cpf|cuit|cuil|curp|dni|nie|nif|bsn|burgerservicenummer|codice fiscale|nino|national insurance(?: no| number)?|aadhaar|nric|my ?number|tckn|tc kimlik|nhs(?: number)?|medicare|ahv|numer dowodu|steuer(?:-?id|nummer|-identifikationsnummer)|national[ _-]?id|nationalid|tax[ _-]?id"
    r"|kundennummer|customer (?:no|number|id)|konto(?:nummer)?|insurance (?:no|number)|versicher(?:ungs|ten)(?:nummer|-?nr)|krankenkasse|licen[cs]e plate|kennzeichen|mrn|patient(?:en)?[ _-]?(?:id|nr|number))"
    r"|паспорт|Паспорт|СНИЛС|ИНН|身份证(?:号码?)?|マイナンバー|주민등록번호"
)
NUMBER = r"(?P<v>[A-Z]{0,6}[0-9](?:[0-9A-Z]|[ ./+-](?=[0-9A-Z])){4,34}|[A-Z]{2,6}[0-9A-Z]{5,16}|[A-Z][0-9A-Z]{6,16})"
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
STREET_NUMBER = rf"(?:{NAME_WORD}|ul\.|al\.|Av\.|C/)(?:[ -](?:{PARTICLE}[ ])?{NAME_WORD}){{0,4}}\.?[ ,]{{1,2}}(?:n[º°o]?\.?[ ]?)?[0-9]{{1,4}}(?:[ ]?[A-Za-z](?![A-Za-z]))?(?:[/-][0-9]{{1,4}})?"
NUMBER_STREET = rf"[0-9]{{1,5}}(?:[ ]?(?:bis|ter|[A-D]))?,?[ ](?:rue|avenue|boulevard|chemin|place|[NESW]|{NAME_WORD})(?:[ ](?:{PARTICLE}[ ])?{NAME_WORD}){{0,4}}"
NEXT = r"(?:[ \t]*\r?\n[ \t]*|[ ]?<br[ ]?/?>\s*)"
FULL_ADDRESS = rf"(?:{STREET_NUMBER}|{NUMBER_STREET})(?:,[ ][^,\n]{{1,12}})?,?(?:[ ]|{NEXT})(?:{POSTAL}|{BRITISH})"
ADDRESS_LABELS = r"(?:(?i:addr(?:ess)?[12]?|street|stra(?:ß|ss)e|anschrift|adress(?:e|a)?|direcci(?:ó|o)n|indirizzo|endere(?:ç|c)o|adres(?:a|i)?|osoite|domicili?o|wohnhaft(?: in)?|residence|lives at|ship(?:ping)? to|deliver to|lieferung an|livrer (?:à|a)|bezorgen op|dostawa|na adres)|адрес|Адрес|住所|地址|주소)"
ZIP_LABELS = r"(?i:(?:[a-z]+_)?(?:zip(?:_?code)?|post_?code|postal_?code|plz|postleitzahl|code_postal|cod(?:igo)?_?postal|kod_pocztowy|postnummer))"


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
    rb"(?i)born|birth|dob\b|e-?mail|@|phone|tel\b|telecom|mobil|address|adres|street|zip|gebur|nasc|nacim|urodz|ssn|passport|gender|salary|iban|registration|patient|dbtr|cdtr|samaccountname"
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


HEADS = re.compile(rb"[ \t]*[A-Z][A-Za-z_-]*(?:[ \t]+[A-Z(%][A-Za-z_)%/-]*)+[ ]*\r?")
"""Heads of columns that are aligned by spaces."""


def _column(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the words below a head that names users or machines, in columns aligned by spaces."""
    line = line_at(text, match.start)
    head = text[slice(*match)].strip()
    start = max(text.rfind(sign, line.start, match.start) for sign in (b"[", b">", b'"')) + 1
    line = TextSpan(max(line.start, start), line.end)
    heads = text[slice(*line)].split()
    if HEADS.fullmatch(text, *line) is None or len(heads) < 3:
        return NOTHING
    of_host = head.lower() in (b"host", b"hostname")
    spans: list[TextSpan] = []
    for row in iter_rows(text, line.end + 1):
        words = list(re.finditer(rb"[^\s]+", text[slice(*row)]))
        if len(words) < len(heads) - 1:
            break
        offset = match.start - line.start
        aligned = [word for word in words if word.start() == offset]
        word = aligned[0] if aligned else words[min(heads.index(head), len(words) - 1)]
        is_user = is_somebody(word[0]) and re.fullmatch(rb"[a-z_][a-z0-9_.-]{2,31}", word[0])
        if is_machine(word[0]) and aligned if of_host else is_user:
            spans.append(TextSpan(row.start + word.start(), row.start + word.end()))
    return tuple(spans)


WAY = re.compile(rb"\b(?:Street|Road|Avenue|North|South|East|West)\b")


def _street(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a street with its city, line by line."""
    found = text[slice(*value)]
    if not is_person(WAY.sub(b"", found.partition(b",")[0])):
        return NOTHING
    lines = re.finditer(rb"[^\r\n<>]*[^\s<>](?![^<>]*>)", found)
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


def _own_line(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name in a field that begins its line."""
    before = text[text.rfind(b"\n", 0, match.start) + 1 : match.start]
    return NOTHING if before.strip(b" \t*#/>+-|;") else _person(text, match, value)


PLACE_FIELDS = re.compile(
    rb"(?i)street|stra(?:\xc3\x9f|ss)e|address|adres|zip|plz|postal|post_?code|rue\b|calle|ulica|indirizzo|iban"
)


def _city_near(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a city in a record that also has a street or a post code."""
    around = (text[max(0, match.start - 160) : match.start], text[value.end : value.end + 120])
    is_near = any(PLACE_FIELDS.search(part) for part in around)
    return _apart(text, match, value) if is_near else NOTHING


def _device(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a device that is named after somebody."""
    name = re.split(rb"'s|\xe2\x80\x99s", text[slice(*value)])[0]
    return (value,) if is_person(name) else NOTHING


LABEL_END = (
    r"""["'`\])*]{0,3}(?:[ .-]?(?i:no|nr|number|num|nummer|n[º°o]|#|id|code)\b\.?)?["'`\])*]{0,3}"""
)
JOIN = r"(?:[ \t]*(?:=>|[:=;,|\t>→]|is|ist|est|es|è|jest|är|er|：)[ \t]*|[ ])"
PERSON_JOIN = r"""(?:[ \t]*(?:=>|[:=;,|\t]|：|>)[ \t]*|:[ ]*\r?\n[ \t]*|[ ]string[ ]|[ ]["'])"""
Q = r"""["'`]?"""
COLON = r"[ ]?(?:=>|[:=;|\t>])[ ]?"
TABLE_HEADS = "phone|tel|mobil|handy|birth|date of birth|dob|geburts|geboren|ssn|iban|passport|street|stra(?:ß|ss)e|address|adresse|national"
NUMBER_TABLE = account_number(
    "number-table",
    rf"\b(?i:{TABLE_HEADS})[A-Za-z_ ]*\"?(?:[\t|;,]|\r?\n)",
    _number_table,
    is_many=True,
)
ALSO["name-table"] = NUMBER_TABLE
PERSONAL: tuple[Family, ...] = (
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
        trigger=rf"\b(?:{UPPER}[^\n,]*[ ][0-9]+[ ]?[A-Za-z]?(?:,[ ][^,\n]+)?,?(?:[ \r\n]|<br[ ]?/?>)+[0-9]{{3}}|[0-9]+[ ][A-Z][^\n]*[ ,\n][^\n]*[0-9][A-Z]{{2}}\b)",
    ),
    user_name(
        "name-of-address",
        rf"(?P<v>{FULL_NAME}){NEXT}{FULL_ADDRESS}",
        _person,
        trigger=r"[A-Z\xc3-\xd3][a-z\x80-\xff'-]+[ ][^\n<]+(?:\r?\n|<br[ ]?/?>)[^\n<]*(?:[ ][0-9]+[ ]?[A-Za-z]?|[0-9][ ][A-Z][^\n<]*),?(?:[ \r\n]|<br[ ]?/?>)+[A-Z0-9]",
    ),
    account_number(
        "address-label",
        rf"(?:{ADDRESS_LABELS}){LABEL_END}[ ]?(?:[:=>]|[ ]){Q}[ ]?{Q}(?P<v>(?:{UPPER}|[0-9])[^\n\"'`<>{{}}|=;]{{5,90}}?)(?=[\"'`<|;]|[ ]*(?:\r?\n|\Z))",
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
        "user-table",
        r"\b(?i:user|login|account|benutzer|utilisateur|usuario|utente|gebruiker|owner)[A-Za-z_ ]*\"?[\t|;,]",
        _user_table,
        is_many=True,
    ),
    NUMBER_TABLE,
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
        rf"(?i:name|nm){Q}[ ]?(?:=>|[:=>]|[ ][\"'])[ ]?(?:\[\{{\"text\":[ ]?)?{Q}(?P<v>{FULL_NAME}){END}",
        _named_near,
        trigger=rf"\b(?i:name|nm){Q}[ ]?(?:=>|[:=>]|[ ][\"'])[ ]?(?:\[\{{\"text\":[ ]?)?{Q}[A-Z\xc3-\xd3]",
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
    account_number("card-address", r"ADR(?:;[^:\n]{0,40})?:;*(?P<v>[^\s;][^\n]*[^\s;])", any_value),
    user_name(
        "card-name",
        r"N(?:;[^:\n]{0,40})?:(?P<v>[^\s;:][^;:\n]{1,30};[^\s;:][^;:\n]{1,30})(?=;|\r?\n)",
        _own_line,
        trigger=r"\bN(?:;[^:\n]{0,40})?:[^\s;:]",
    ),
    account_number(
        "city",
        rf"(?i:city|town|ort|stadt|ville|ciudad|citt(?:à|a)|miasto|plaats|wohnort){Q}{COLON}{Q}(?P<v>{CITY}){END}",
        _city_near,
        trigger=rf"\b(?i:city|town|ort|stadt|ville|ciudad|citt(?:à|a)|miasto|plaats|wohnort){Q}{COLON}{Q}[A-Z\xc3-\xd3]",
    ),
    user_name(
        "addressed",
        rf"(?:To|TO|From|FROM|Cc|CC|Attn|ATTN)[ ]?:[ \t]*(?P<v>{FULL_NAME})(?=[ \t]*(?:\r?\n|\Z))",
        _own_line,
        trigger=r"\b(?:To|TO|From|FROM|Cc|CC|Attn|ATTN)[ ]?:[ \t]*[A-Z\xc3-\xd3][a-z\x80-\xff]+[ ][A-Za-z]",
    ),
    user_name("user-column", r"\b(?:USER|User|OWNER|Owner)[ ]{1,20}", _column, is_many=True),
    host_name("host-column", r"\b(?:HOST|Host|HOSTNAME|Hostname)[ ]{2,20}", _column, is_many=True),
    host_name(
        "device",
        rf"(?P<v>{NAME_WORD}(?:'s|’s)[ ]{DEVICES})(?![A-Za-z])",
        _device,
        trigger=rf"{UPPER}[a-z\x80-\xff]+(?:'s|’s)[ ]{DEVICES}",
    ),
    host_name("desktop", rf"(?P<v>{MACHINE})\b", _apart, trigger=rf"\b{MACHINE}\b"),
)
GATES_OF_PEOPLE = (
    rf"\b(?:{BIRTH})[^\n0-9]*[0-9]|\b(?:{NUMBER_LABELS}|{PHONE_LABELS}|{PLACE_LABELS})[^A-Za-z0-9\n]+[A-Za-z]*[^A-Za-z0-9\n]*[A-Z]*[0-9][0-9A-Z ()./-]{{3}}",
    rf"\b(?:{PERSON_LABELS})\b[^A-Za-z ]+[ ]?[^A-Za-z\n ]*[A-Z\xc3-\xd3][a-z\x80-\xff]|\b(?i:name|nm)\b[^A-Za-z ]+(?:text[^A-Za-z]+)?[ ]?[^A-Za-z\n ]*[A-Z\xc3-\xd3][a-z\x80-\xff]+[ ](?:[a-z]+[ ])*[A-Z\xc3-\xd3]|\b(?:{ADDRESS_LABELS}|{ZIP_LABELS})[^A-Za-z0-9]+n?[ ]*[A-Z0-9\xc3]"
    rf"|\b{GREETING}[A-Z\xc3-\xd3]|\b{CLOSING}[ ]*[\r\n\\]|Copyright[ (]|[a-z](?:'|’)s[ ]{DEVICES}|(?i:insert into)[ ]|\bUSER\b[ ]|(?i:holder|titular)[ ][A-Z]|(?i:imi(?:ę|e)|nazwisko|vorname|nachname|first_?name|last_?name|surname|apellidos?|cognome|nombre|pr(?:é|e)nom)[\"']?[;,|\t\\]"
    rf"|[A-Z]-(?:LAPTOP|PC|DESKTOP|MACBOOK|MBP|NOTEBOOK|WORKSTATION|SURFACE|NB)\b|[a-z.\x80-\xff][ ][0-9]+[ ]?[A-Za-z]?(?:,[ ]|,?(?:\r?\n|\\+n|<br[ ]?/?>)[^A-Za-z\n]*)[0-9]{{4}}|BEGIN:VCARD|\b(?:USER|User|OWNER|Owner|HOST|Host)[ ]{{2}}|\b(?i:user|login|benutzer)(?i:name)?\"?[;,|\t]\"?(?i:pass|pw|kennwort|rol|e-?mail)|(?i:name|nom|{TABLE_HEADS})\"?[;,|\t][ ]?\"?[a-zA-Z_ \"]*(?i:{TABLE_HEADS})|\b(?:To|TO|From|FROM|Cc|CC)[ ]?:[ \t]*[A-Z\xc3-\xd3][a-z\x80-\xff]+[ ][A-Z]",
)
"""What makes a text worth a second look for personal data."""
