"""Read what a column says of a text's language, as the two-letter code that the steps know.

Flow: `language` of a source or of `language_detection`: `en`, `eng`, `en-GB` -> **here** -> `en`. Pure.
"""

# ISO 639-2 and 639-3 -> 639-1, of the languages that a step knows.
_TWO_LETTERS = {
    "ara": "ar", "bul": "bg", "bos": "bs", "cat": "ca", "ces": "cs", "cze": "cs", "cym": "cy", "wel": "cy",
    "dan": "da", "deu": "de", "ger": "de", "ell": "el", "gre": "el", "eng": "en", "epo": "eo", "spa": "es",
    "est": "et", "fas": "fa", "per": "fa", "fin": "fi", "fra": "fr", "fre": "fr", "gle": "ga", "gla": "gd",
    "glg": "gl", "glv": "gv", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "arm": "hy",
    "ind": "id", "isl": "is", "ice": "is", "ita": "it", "kat": "ka", "geo": "ka", "lat": "la", "ltz": "lb",
    "lit": "lt", "lav": "lv", "mkd": "mk", "mac": "mk", "mal": "ml", "msa": "ms", "may": "ms", "zsm": "ms",
    "nob": "nb", "nld": "nl", "dut": "nl", "nno": "nn", "nor": "no", "pol": "pl", "por": "pt", "ron": "ro",
    "rum": "ro", "rus": "ru", "sme": "se", "slk": "sk", "slo": "sk", "slv": "sl", "sqi": "sq", "alb": "sq",
    "srp": "sr", "swe": "sv", "swa": "sw", "tgl": "tl", "tur": "tr", "ukr": "uk", "zho": "zh", "jpn": "ja",
    "kor": "ko",
}  # fmt: skip


def language_code(written: str) -> str:
    """Return the code of a language, without a region; an unknown three-letter code as it is, in small letters."""
    code = written.strip().lower().replace("_", "-").partition("-")[0]
    return _TWO_LETTERS.get(code, code)
