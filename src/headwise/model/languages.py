"""Languages by code and by name: `fr`, `fra`, `fre` and `French` are the same.

The code of a language is that of Universal Dependencies: two letters of ISO 639-1 where there are
any, else three of ISO 639-3. The table has the languages that models exist for or can be trained
for with free treebanks; a model of another language works as well, by its own name only.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from functools import cache

_TABLE = """
af Afrikaans afr
akk Akkadian
ar Arabic ara
bar Bavarian
be Belarusian bel
bm Bambara bam
ca Catalan cat
cop Coptic
cs Czech ces cze
cy Welsh cym wel
da Danish dan
de German deu ger
egy Egyptian | Ancient Egyptian
el Greek ell gre | Modern Greek
en English eng
es Spanish spa | Castilian
eu Basque eus baq
fa Persian fas per | Farsi
fi Finnish fin
fo Faroese fao
fr French fra fre
ga Irish gle
gd Scottish Gaelic gla
gl Galician glg
got Gothic
grc Ancient Greek
ha Hausa hau
he Hebrew heb iw
hi Hindi hin
hr Croatian hrv
ht Haitian Creole hat | Haitian
hy Armenian hye arm | Eastern Armenian
hyw Western Armenian
id Indonesian ind
is Icelandic isl ice
it Italian ita
ja Japanese jpn
jv Javanese jav
ka Georgian kat geo
ko Korean kor
ky Kyrgyz kir
la Latin lat
lt Lithuanian lit
lv Latvian lav lvs
lzh Classical Chinese
mr Marathi mar
mt Maltese mlt
nb Norwegian Bokmål nob no nor | Norwegian | Bokmål
nds Low Saxon | Low German
nl Dutch nld dut
nn Norwegian Nynorsk nno | Nynorsk
oc Occitan oci
orv Old East Slavic
ota Ottoman Turkish
pcm Naija | Nigerian Pidgin
pl Polish pol
pro Old Occitan
pt Portuguese por
ro Romanian ron rum
ru Russian rus
sa Sanskrit san
sd Sindhi snd
sk Slovak slk slo
sl Slovenian slv | Slovene
sme North Sami se | Northern Sami
sr Serbian srp
sv Swedish swe
th Thai tha
tl Tagalog tgl fil | Filipino
tr Turkish tur
ug Uyghur uig
uk Ukrainian ukr
uz Uzbek uzb
vi Vietnamese vie
wo Wolof wol
yi Yiddish yid
yue Cantonese
zh Chinese zho chi cmn | Mandarin
"""
"""Code, name, other codes; after each `|` another name. Codes are the words in lower case."""

_SEPARATOR = re.compile(r"[\s_-]+")
_REGION = re.compile(r"[A-Za-z]{2,3}[_-][A-Z]{2}")
_MAX_NAME = 100
_LONGEST_CODE = 3


@cache
def _names() -> dict[str, str]:
    return {code: name for code, name, _ in _rows()}


@cache
def _codes() -> dict[str, str]:
    """Every code and name, folded, with the code of its language."""
    return {_fold(alias): code for code, _, aliases in _rows() for alias in aliases}


def _rows() -> Iterable[tuple[str, str, list[str]]]:
    """Give the code, the name and all aliases of each language."""
    for line in _TABLE.strip().splitlines():
        first, *others = (part.split() for part in line.split("|"))
        code, *rest = first
        name = " ".join(word for word in rest if not word.islower())
        codes = [word for word in rest if word.islower()]
        yield code, name, [code, name, *codes, *(" ".join(words) for words in others)]


def _fold(name: str) -> str:
    """Make `Norwegian-Bokmål` and `norwegian bokmal` the same."""
    plain = unicodedata.normalize("NFKD", name[:_MAX_NAME]).casefold()
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return _SEPARATOR.sub(" ", letters).strip()


def language_codes() -> list[str]:
    """List the code of every language in the table."""
    return list(_names())


def language_name(code: str) -> str:
    """Name a language: `French` for `fr`; what is not in the table is named by its code."""
    return _names().get(code, code)


def language_code(name: str) -> str | None:
    """Find the code of a language by its name or by any of its codes."""
    return _codes().get(_fold(name))


def model_name(name: str) -> str | None:
    """Turn the language in front of a model's name into its code: `english-accurate`, `fra`.

    A region after the language says nothing about the model: `de-DE` is `de`, `pt_BR` is `pt`.
    """
    words = _fold(name).split(" ")
    if _REGION.fullmatch(name[:_MAX_NAME]):
        words = words[:1]
    for n_words in range(len(words), 0, -1):
        code = _codes().get(" ".join(words[:n_words]))
        if code is not None:
            return "-".join([code, *words[n_words:]])
    return None


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """Find languages and models that a mistyped name could mean, as codes and names of models."""
    names = {alias: code for alias, code in _codes().items() if len(alias) > _LONGEST_CODE}
    aliases = names | {_fold(one): one for one in known}
    close = difflib.get_close_matches(_fold(name), aliases, n=3, cutoff=0.75)
    return list(dict.fromkeys(aliases[alias] for alias in close))
