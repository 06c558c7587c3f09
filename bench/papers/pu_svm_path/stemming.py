"""The stems of English words by Porter's algorithm (1980)."""

from __future__ import annotations

import re
from functools import cache

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
           "iti", "ous", "ive", "ize")  # fmt: skip


def _kinds(word: str) -> str:
    """Return c for each consonant and v for each vowel; y is a vowel behind a consonant."""
    kinds = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if is_vowel else "c"
    return kinds


def _measure(word: str) -> int:
    """Return how often vowels are followed by consonants."""
    return len(re.findall("v+c+", _kinds(word)))


def _is_short(word: str) -> bool:
    """Return whether the word ends as "hop" does."""
    return _kinds(word).endswith("cvc") and word[-1] not in "wxy"


def _replaced(word: str, rules: dict[str, str]) -> str:
    """Return the word with the longest ending of the rules replaced, if its stem has a measure above 0."""
    for ending in sorted(rules, key=len, reverse=True):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + rules[ending] if _measure(rest) > 0 else word
    return word


def _without_ed_and_ing(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word[: -len(ending)]
        if not word.endswith(ending) or "v" not in _kinds(rest):
            continue
        if rest.endswith(("at", "bl", "iz")):
            return rest + "e"
        if rest[-2:-1] == rest[-1:] and _kinds(rest).endswith("c") and rest[-1] not in "lsz":
            return rest[:-1]
        return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest
    return word


@cache
def stem(word: str) -> str:
    """Return the stem of a word in lower case."""
    if len(word) <= 2:
        return word
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    word = _without_ed_and_ing(word)
    if word.endswith("y") and "v" in _kinds(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _STEP_2), _STEP_3)
    for ending in sorted(_STEP_4, key=len, reverse=True):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t"))):
                word = rest
            break
    if word.endswith("e") and (_measure(word[:-1]) > 1 or (_measure(word[:-1]) == 1 and not _is_short(word[:-1]))):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
