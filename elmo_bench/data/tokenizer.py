"""A Penn-Treebank-like tokenizer that keeps offsets: every token is a slice of the text.

Quotes and brackets stay as they are written (a slice cannot be rewritten, and the biLM's own
corpus has plain quotes). Beyond the Treebank rules, `split_inside` splits words at the characters
where answers to questions often begin or end: hyphens, slashes, tildes, degree signs.
"""

import re
import unicodedata

Offsets = tuple[int, int]

# White space includes the non-breaking space, but not these two: zero-width space, byte order mark.
_ZERO_WIDTH = "\u200b\ufeff"
_APOSTROPHE = "['’]"
_QUOTES = '"“”„‟«»‹›‘‚‛`´'
_ALONE = _QUOTES + "()[]{}<>;?!*|=^…¿¡§¶•·@#%\\" + "$£€¥¢₹₽₩₪฿" + "—–"
_INSIDE = "-/~°−‐‑‒_+"

_PIECE = re.compile(
    r"(?P<ellipsis>\.{2,})"
    r"|(?P<dashes>--+)"
    r"|(?P<quote>''|``)"
    rf"|(?P<alone>[{re.escape(_ALONE)}])"
    r"|(?P<comma>[,:](?!(?<=\d.)\d))"  # 1,000 and 12:30 stay whole
    rf"|(?P<word>(?:(?!\.\.|--|''|[,:](?!(?<=\d.)\d))[^\s{_ZERO_WIDTH}{re.escape(_ALONE)}])+)"
)
_INSIDE_SPLIT = re.compile(rf"[{re.escape(_INSIDE)}]|[^{re.escape(_INSIDE)}]+")
_CLITIC = re.compile(
    rf"(?P<stem>.+?)(?P<clitic>n{_APOSTROPHE}t|{_APOSTROPHE}(?:s|re|ve|ll|d|m|em)?)", re.IGNORECASE
)
_OPENING = re.compile(
    rf"(?P<mark>{_APOSTROPHE})(?!(?:s|re|ve|ll|d|m|t|em|cause|til|n|\d\ds?)\.?$)(?P<rest>.+)",
    re.IGNORECASE,
)
# Two words written as one, with the length of the first.
_MERGED = {
    "cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "lemme": 3, "gimme": 3, "'tis": 2, "'twas": 2,
}  # fmt: skip
_ABBREVIATION = re.compile(
    "mr|mrs|ms|dr|prof|st|mt|ft|sr|jr|gen|col|lt|sgt|capt|cmdr|adm|rev|hon|gov|sen|rep|pres|"
    "inc|ltd|co|corp|bros|dept|univ|assn|vs|etc|al|eds|approx|ca|cf|ave|blvd|rd|"
    "jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
)
_BEFORE_NUMBER = re.compile("nos?|figs?|eq|vols?|pp?|ch")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+")
_VISIBLE = re.compile(r"\S")


def tokenize(text: str, split_inside: bool = False) -> tuple[str, ...]:
    """Return the tokens of a text."""
    return tuple(text[start:end] for start, end in token_offsets(text, split_inside))


def token_offsets(text: str, split_inside: bool = False) -> tuple[Offsets, ...]:
    """Return the (start, end) of every token, in order; only white space is left out."""
    found: list[Offsets] = []
    for piece in _PIECE.finditer(text):
        word, tokens = piece.group(), [piece.span()]
        # Most words have only letters and digits, and nothing to split.
        if piece.lastgroup == "word" and not (word.isalnum() and word.lower() not in _MERGED):
            tokens = _split_word(text, *piece.span(), split_inside)
        for left, right in tokens:
            # A combining accent belongs to the character before it, even if the rules split there.
            while left < right and found and found[-1][1] == left and _is_mark(text[left]):
                left += 1
                found[-1] = (found[-1][0], left)
            if left < right:
                found.append((left, right))
    return tuple(found)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or char == "\u200d"


def _split_word(text: str, start: int, end: int, split_inside: bool) -> list[Offsets]:
    middle = start + _MERGED.get(text[start:end].lower(), 0)
    if middle > start:
        return [(start, middle), (middle, end)]
    tokens: list[Offsets] = []
    if opening := _OPENING.fullmatch(text, start, end):
        tokens.append(opening.span("mark"))
        start = opening.start("rest")
    endings: list[Offsets] = []
    while (cut := _last_cut(text, start, end)) < end:
        endings.insert(0, (cut, end))
        end = cut
    if split_inside:
        tokens += [part.span() for part in _INSIDE_SPLIT.finditer(text, start, end)]
    else:
        tokens.append((start, end))
    return tokens + endings


def _last_cut(text: str, start: int, end: int) -> int:
    """Where the final period, apostrophe or clitic of a word begins; its end if it has none."""
    if _ends_sentence(text, start, end):
        return end - 1
    clitic = _CLITIC.fullmatch(text, start, end)
    return clitic.start("clitic") if clitic else end


def _ends_sentence(text: str, start: int, end: int) -> bool:
    """Whether a word ends with a period that is a separate token."""
    word = text[start:end]
    if not word.endswith(".") or len(word) == 1:
        return False
    visible = _VISIBLE.search(text, end)
    if visible is None:
        return not (_INITIALS.fullmatch(word) and len(word) > 2)  # U.S. keeps its last period
    following, stem = visible.group(), word[:-1].lower()
    if _INITIALS.fullmatch(word) or _ABBREVIATION.fullmatch(stem):
        return False
    if following.isdigit() and _BEFORE_NUMBER.fullmatch(stem):
        return False
    return stem[-1].isdigit() or not following.islower()
