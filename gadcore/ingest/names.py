"""Parts of a graph recognised by the names of columns, in English, German, French and Spanish.

| part          | names recognised (case, spaces, ``_`` and ``-`` do not matter)                             |
| node id       | Id, node_id, ``:ID`` and ``personId:ID(Person)`` (Neo4j), ``~id`` (Neptune), …_id, …       |
| display name  | Label (Gephi), name, title, display_name, …_name                                           |
| truth         | truth, is_fraud, is_anomaly, … (``label`` and ``y`` in .mat, .npz and .pt only)            |
| edge ends     | Source/Target, ``:START_ID``/``:END_ID``, from/to, sender_iban/receiver_iban, …            |
| edge weight   | Weight, w                                                                                  |
| link time     | time, timestamp, transaction_date, Buchungstag, fecha, …                                   |
| link amount   | amount, value, amount_eur, Betrag, montant, importe, rating, bytes, duration, …            |
| link kind     | type, kind, channel, relation, tx_type, Zahlungsart, …                                     |

A name of a link column is a guess: ``link_roles`` asks the content before it believes it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

_ID = ("id", "nodeid", "node", "vertex", "vertexid", "key", "identifier", "accountid", "userid", "customerid")
_LABEL = ("label", "name", "displayname", "title", "fullname", "accountname", "username", "customername")
_TRUTH = ("truth", "groundtruth", "isfraud", "isanomaly", "isanomalous", "isoutlier", "islaundering", "issar")
_WEIGHT = ("weight", "w", "edgeweight")
_CRIMES = {
    "fraud", "fraudulent", "anomaly", "anomalous", "outlier", "laundering", "sar", "scam", "illicit",
    "betrug", "geldwasche", "geldwaesche", "fraude", "blanchiment", "blanqueo",
}  # fmt: skip
_TELLING = {  # beside one of these words: a column that tells the answer
    "is", "was", "ist", "est", "es", "flagged", "flag", "label", "truth", "kind", "type", "class", "pattern",
    "step", "date", "time", "day", "reason", "case",
}  # fmt: skip

LINK_WORDS = {  # the more telling a word, the further to the front
    "time": (
        "timestamp", "datetime", "time", "date", "ts", "when", "booked", "executed", "occurred", "created",
        "since", "epoch", "step", "day", "month", "year", "period", "zeitstempel", "zeitpunkt",
        "buchungstag", "datum", "zeit", "tag", "valuta", "wertstellung", "seit", "horodatage", "date",
        "jour", "depuis", "fecha", "hora", "dia", "t",
    ),
    "amount": (
        "amount", "amt", "betrag", "montant", "importe", "monto", "value", "sum", "total", "wert", "summe",
        "umsatz", "valeur", "somme", "valor", "suma", "rating", "score", "bewertung", "note", "valoracion",
        "bytes", "volume", "price", "preis", "prix", "precio", "duration", "dauer", "duree", "duracion",
        "share", "stake", "anteil", "quantity", "menge", "quantite", "cantidad",
    ),
    "kind": (
        "kind", "type", "relation", "relationship", "channel", "link", "linktype", "edgetype", "category",
        "typ", "art", "kanal", "beziehung", "kategorie", "genre", "canal", "categorie", "tipo", "clase",
        "relacion", "categoria", "method", "mode", "medium", "predicate", "protocol", "proto", "action",
        "event", "format",
    ),
}  # fmt: skip
_ENDINGS = {  # German puts words together
    "time": ("datum", "zeitpunkt", "stempel", "tag"),
    "amount": ("betrag", "summe", "wert", "dauer"),
    "kind": ("ungsart", "ionsart", "satzart", "typ", "kanal"),
}
_OTHERWISE = {  # words that make another thing of a name
    "time": {"zone", "timezone", "type", "id", "duration", "count"},
    "amount": {
        "id", "type", "kind", "currency", "date", "time", "code", "balance", "old", "new", "status", "name",
        "day", "fee", "rate", "limit", "timestamp", "devise", "moneda", "valuta", "note",
    },
    "kind": {"id", "count", "date", "time", "amount", "number", "code"},
}  # fmt: skip
CURRENCY_WORDS = {"currency", "ccy", "wahrung", "waehrung", "devise", "moneda", "divisa"}

_ENDS = (
    ("source", "target"), ("from", "to"), ("src", "dst"), ("src", "dest"), ("src", "tgt"),
    ("source", "dest"), ("source", "destination"), ("origin", "destination"), ("origin", "dest"),
    ("orig", "dest"), ("org", "dest"), ("orig", "bene"), ("originator", "beneficiary"),
    ("remitter", "beneficiary"), ("sender", "beneficiary"), ("sender", "receiver"),
    ("sender", "recipient"), ("payer", "payee"), ("payer", "receiver"), ("debtor", "creditor"),
    ("debit", "credit"), ("buyer", "seller"), ("caller", "callee"), ("calling", "called"),
    ("rater", "ratee"), ("trustor", "trustee"), ("truster", "trustee"), ("follower", "followee"),
    ("lender", "borrower"), ("giver", "taker"), ("citing", "cited"), ("client", "server"),
    ("orig", "resp"), ("ordering", "beneficiary"), ("parent", "subsidiary"), ("parent", "child"),
    ("owner", "owned"), ("shareholder", "company"), ("auftraggeber", "empfanger"),
    ("absender", "empfanger"), ("sender", "empfanger"), ("zahler", "empfanger"),
    ("auftraggeber", "empfaenger"), ("absender", "empfaenger"), ("zahler", "empfaenger"),
    ("zahlungspflichtiger", "zahlungsempfanger"), ("auftraggeber", "begunstigter"), ("von", "nach"),
    ("von", "an"), ("quelle", "ziel"), ("anrufer", "angerufener"), ("emetteur", "destinataire"),
    ("emetteur", "beneficiaire"), ("expediteur", "destinataire"), ("payeur", "beneficiaire"),
    ("donneur", "beneficiaire"), ("ordenante", "beneficiario"), ("origen", "destino"),
    ("remitente", "destinatario"), ("emisor", "receptor"), ("pagador", "beneficiario"),
    ("subject", "object"), ("head", "tail"), ("start", "end"), ("u", "v"), ("i", "j"),
)  # fmt: skip
_PLAIN_ENDS = (
    ("node1", "node2"), ("id1", "id2"), ("user1", "user2"), ("account1", "account2"), ("nodea", "nodeb"),
    ("account", "account.1"), ("id", "id.1"), ("node", "node.1"), ("anumber", "bnumber"),
    ("aparty", "bparty"), ("amsisdn", "bmsisdn"), ("partya", "partyb"),
)  # fmt: skip
_BARE_ENDS = {
    "start",
    "head",
    "u",
    "i",
    "parent",
    "subject",
    "debit",
    "von",
    "owner",
    "client",
    "shareholder",
}
_END_WORDS = (  # what may stand beside the word of an end; the first ones are the more telling
    "id", "node", "account", "acct", "iban", "konto", "kontonummer", "compte", "cuenta", "ip", "addr",
    "address", "company", "h", "number", "no", "nr", "user", "customer", "client", "wallet", "phone",
    "msisdn", "card", "vertex", "key", "party", "name", "code", "bank", "d", "ordre", "de",
)  # fmt: skip

_NEO4J_PART = re.compile(r"^[^:]*:(ID|START_ID|END_ID|LABEL|TYPE|IGNORE)(\([^)]*\))?$", re.IGNORECASE)
_TYPE_SUFFIX = re.compile(
    r":(int|integer|long|float|double|bool|boolean|byte|short|char|string|date|datetime|localdatetime|time"
    r"|localtime|duration|point)(\((single|set)\))?(\[\])?$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def normal(name: str) -> str:
    """Column name without case, accents, spaces, _ and -: what recognition compares."""
    return re.sub(r"[\s_\-]+", "", unaccented(name.strip().lower()))


def unaccented(text: str) -> str:
    """Text without accents: "Empfänger" is "Empfanger"."""
    marked = unicodedata.normalize("NFD", text)
    return "".join(c for c in marked if not unicodedata.combining(c)).replace("ß", "ss")


def words_of(name: str) -> list[str]:
    """The words of a name: ``isFraud`` is "is", "fraud"; ``Booking date`` is "booking", "date"."""
    return [word.lower() for word in _WORDS.findall(unaccented(plain_name(name)[0]))]


def neo4j_part(name: str) -> str | None:
    """ID, START_ID, END_ID, LABEL, TYPE or IGNORE of a Neo4j header field."""
    match = _NEO4J_PART.match(name.strip())
    return match.group(1).upper() if match else None


def is_bulk_header(columns: Iterable[str]) -> bool:
    """Whether the header is of a Neo4j or Neptune bulk file, whose names carry types (``age:int``)."""
    return any(c.strip().startswith("~") or neo4j_part(c) for c in columns)


def plain_name(name: str) -> tuple[str, bool]:
    """(name without a bulk file's type suffix, whether the type is an array)."""
    match = _TYPE_SUFFIX.search(name)
    if not match:
        return name, False
    return name[: match.start()] or name, bool(match.group(4)) or (match.group(3) or "").lower() == "set"


def _by_words(columns: Sequence[str], words: Sequence[str]) -> str | None:
    """The column that is named like the first word that any is named like."""
    return next((c for word in words for c in columns if normal(c) == word), None)


def guess_id(columns: Sequence[str]) -> str | None:
    """Column that holds the node ids, by name."""
    bulk = next((c for c in columns if neo4j_part(c) == "ID" or c.strip().lower() == "~id"), None)
    named = bulk if bulk is not None else _by_words(columns, _ID)
    if named is not None or not columns:
        return named
    first = columns[0].strip()  # empty: the index column that pandas writes
    return columns[0] if not first or first.lower().endswith(("_id", " id")) or first.endswith("Id") else None


def guess_label(columns: Sequence[str]) -> str | None:
    """Column with the name to show, by name."""
    ending = [c for c in columns if c.strip().lower().endswith(("_name", " name"))]
    return _by_words(columns, _LABEL) or (ending[0] if len(ending) == 1 else None)


def guess_truth(columns: Sequence[str]) -> str | None:
    """Column with known answers, by name; never ``label``, which Gephi uses for names."""
    return _by_words(columns, _TRUTH)


def answer_columns(columns: Iterable[str]) -> list[str]:
    """Columns that tell the answer (``is_fraud``, ``fraud_kind`` …): never attributes."""
    return [c for c in columns if _tells_answer(c)]


def _tells_answer(column: str) -> bool:
    words = set(words_of(column))
    crimes = words & _CRIMES
    named = normal(column) in (*_TRUTH, "alertid") or (bool(crimes) and words == crimes)
    return named or bool(crimes and words & _TELLING)


def guess_ends(columns: Sequence[str]) -> tuple[str, str] | None:
    """Source and target column of an edge table, by name."""
    parts = {neo4j_part(c): c for c in columns}
    if "START_ID" in parts and "END_ID" in parts:
        return parts["START_ID"], parts["END_ID"]
    by_name = {c.strip().lower() if c.strip().startswith("~") else normal(c): c for c in reversed(columns)}
    for a, b in (("~from", "~to"), *_ENDS, *_PLAIN_ENDS):
        if a in by_name and b in by_name and a != "debit":  # alone, debit and credit are amounts
            return by_name[a], by_name[b]
    found = min(_compound_ends(columns), default=None)
    return (columns[found[1]], columns[found[2]]) if found else None


def _compound_ends(columns: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """(rank, place of the source, place of the target) of pairs such as sender_iban, receiver_iban."""
    split = [tuple(words_of(c)) for c in columns]
    place = {words: k for k, words in reversed(list(enumerate(split)))}
    for k, words in enumerate(split):
        for a, b in _ENDS:
            other = place.get(tuple(b if word == a else word for word in words))
            beside = [word for word in words if word != a]
            if (
                a not in words
                or other is None
                or other == k
                or not beside
                or not set(beside) <= set(_END_WORDS)
            ):
                continue
            rank = min(_END_WORDS.index(word) for word in beside)
            if a not in _BARE_ENDS or rank < _END_WORDS.index("number"):
                yield rank, k, other


def guess_weight(columns: Sequence[str]) -> str | None:
    """Weight column of an edge table, by name."""
    return next((c for word in _WEIGHT for c in columns if normal(plain_name(c)[0]) == word), None)


def named_like(part: str, columns: Sequence[str]) -> list[tuple[str, int]]:
    """Columns named like a part of a link, the best first, with the level of ``_rank``."""
    ranked = ((_rank(part, column), k) for k, column in enumerate(columns))
    found = sorted((rank, k) for rank, k in ranked if rank is not None)
    return [(columns[k], rank[0]) for rank, k in found]


def _rank(part: str, column: str) -> tuple[int, int] | None:
    """How well a name fits a part: 0 the whole name, 1 its last word, 2 the first, 3 any, 4 its ending."""
    known, words = LINK_WORDS[part], words_of(column)
    whole = "type" if neo4j_part(column) == "TYPE" else normal(plain_name(column)[0])
    if whole in known or (part == "kind" and whole == "~label"):
        return 0, known.index(whole) if whole in known else 0
    if set(words) & _OTHERWISE[part] and not (part == "time" and words[-1:] == ["time"]):
        return None
    for level, some in ((1, words[-1:]), (2, words[:1]), (3, words)):
        ranks = [known.index(word) for word in some if word in known]
        if ranks:
            return level, min(ranks)
    return (4, 0) if whole.endswith(_ENDINGS[part]) else None
