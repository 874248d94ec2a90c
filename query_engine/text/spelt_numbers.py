"""English number words up to ninety, and what each means.

Flow: **here** -> whatever compares or finds numbers that a text spells: ages, short answers, claims. Pure.
"""

_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_TENS = "thirty forty fifty sixty seventy eighty ninety".split()
SPELT_NUMBERS = {word: number for number, word in enumerate(_TO_TWENTY)} | dict(
    zip(_TENS, range(30, 100, 10), strict=True)
)
