"""Patterns of questions for an outcome, and of the places where studies and minutes state it. English.

Flow: `outcomes.py` and `summary.py` search with these.
"""

import re
from typing import Literal

Kind = Literal["findings", "aim", "limits", "decisions", "actions"]
_STUDY = (
    r"(?:study|trial|paper|experiments?|research(?:ers?)?|authors?|scientists|investigation|survey|evaluation|analysis"
    r"|article|report|team)"
)
_NAMED_STUDY = rf"(?P<topic>(?:[\w’'-]+ ){{0,8}}?{_STUDY}\b[^?]{{0,150}}?)"
_AT, _ABOUT = (
    r"(?: (?:at|in|by|during|of|from) [^?]{1,100}?)",
    r"(?: (?:about|on|regarding|concerning|for) [^?]{1,100})",
)
# A meeting, before or after what is asked of it.
_MEETING = r"(?: ?(?:after|at|from|following|since|in|of) [^?,]{1,100}?)"
_DO_WHAT = (
    r"who(?:['’]s|['’]ll)? ?(?:has|had|have|needs?|is|was|must|should|will)?(?: got)?"
    r"(?: to| going to| supposed to| meant to)? do(?:ing)? what"
)
_ACTIONS = r"(?:actions?(?: (?:points?|items?|list))?|to-?dos?|to-do list)"
ASKS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("actions", re.compile(rf"(?P<topic>{_MEETING}?),? ?{_DO_WHAT}(?P<aspect>)\W*", re.IGNORECASE)),
    ("actions", re.compile(rf"{_DO_WHAT}(?P<topic>{_MEETING}?)(?P<aspect>)\W*", re.IGNORECASE)),
    (
        "actions",
        re.compile(
            rf"(?:what (?:are|were|was)|list|show me|give me) (?:all )?(?:the )?{_ACTIONS}(?: agreed| assigned)?"
            rf"(?P<topic>{_MEETING}?)(?P<aspect>)\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "actions",
        re.compile(
            rf"(?:what|which) {_ACTIONS} (?:were|was|are|came)(?: (?:there|agreed|assigned|given|out|up)){{0,2}}"
            rf"(?P<topic>{_MEETING}?)(?P<aspect>)\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "findings",
        re.compile(
            rf"(?:and )?what (?:did|does|do|has|have) {_NAMED_STUDY} (?:find|found|shown?|concluded?|reveal(?:ed)?"
            r"|discover(?:ed)?|demonstrated?|learn)(?: out)?"
            r"(?P<aspect> (?:about|on|regarding|concerning|for|as to) [^?]{1,150})?\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "findings",
        re.compile(
            r"what (?:did (?:they|we|you|people|scientists|the researchers) (?:find|discover|learn|conclude)"
            rf"|(?:was|has been) (?:found|discovered|learn(?:t|ed))|came)(?: out)? (?:in|from|by|of)"
            rf" {_NAMED_STUDY}(?P<aspect> (?:about|regarding|concerning) [^?]{{1,150}})?\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "findings",
        re.compile(
            r"what (?:was|were|is|are) the (?:(?:main|key|most important|overall|primary|central|principal) ){0,2}"
            rf"(?:results?|findings?|conclusions?|outcomes?) (?:of|from|in) {_NAMED_STUDY}"
            r"(?P<aspect> (?:about|regarding|concerning) [^?]{1,150})?\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "findings",
        re.compile(
            rf"(?:what|which) (?:results|findings|conclusions?) (?:did|does|do) {_NAMED_STUDY} (?:have|get|find|reach"
            r"|draw|come to|report|obtain|present)(?P<aspect>)\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "aim",
        re.compile(
            r"what (?:was|were|is|are) the (?:main )?(?:aims?|purpose|goals?|objectives?|research questions?"
            rf"|hypothes[ie]s) of {_NAMED_STUDY}(?P<aspect>)\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "aim",
        re.compile(
            rf"what (?:did|does|do) {_NAMED_STUDY} (?:investigate|examine|study|test|explore|look (?:at|into)|ask"
            r"|propose|introduce|deal with|(?:want|try) to (?:find out|know|show))(?P<aspect>)\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "limits",
        re.compile(
            r"what (?:was|were|is|are) (?:the |some )?(?:(?:main|key|biggest|most important) )?(?:limitations?|limits"
            r"|weak(?:ness(?:es)?| (?:spot|point|side)s?)|shortcomings?|caveats?|flaws?)"
            rf" (?:of|in|with) {_NAMED_STUDY}(?P<aspect>)\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "decisions",
        re.compile(
            r"what (?:was|were|has been|have been|did [\w ]{1,60}?) (?:decided?|agreed?|resolved?)(?: upon)?"
            rf"(?P<topic>{_AT}?)(?P<aspect>{_ABOUT}?)\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "decisions",
        re.compile(
            r"(?:what|which) (?:were the |are the )?decisions(?: (?:were|have been|did [\w ]{1,60}?)"
            rf" (?:made|taken|make|take))?(?P<topic>{_AT}?)(?P<aspect>{_ABOUT}?)\W*",
            re.IGNORECASE,
        ),
    ),
)
GENERIC = re.compile(
    rf"{_STUDY}|what|main|key|results?|findings?|conclusions?|outcomes?|last|latest|recent|meeting", re.IGNORECASE
)
_NUMBER = r"(?:#{1,6}[ \t]+|\*\*)?(?:(?:\d{1,2}|[IVX]{1,4})\.?[ \t]+)?"
# Headings of the sections that state an outcome, and of any section after them.
ABSTRACT = re.compile(
    rf"^{_NUMBER}(?:abstract|(?:executive |structured )?summary|key (?:points|findings|messages|results)|highlights)"
    r"(?:\*\*)?[ \t]*(?:[—–:.-][ \t]*(?=\S)|$)",
    re.IGNORECASE | re.MULTILINE,
)
CONCLUSIONS = re.compile(
    rf"^{_NUMBER}(?:conclusions?(?: and [\w ]{{1,30}})?|concluding remarks|(?:main )?findings"
    r"|summary and [\w ]{1,20})(?:\*\*)?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
LIMITATIONS = re.compile(
    rf"^{_NUMBER}(?:strengths and )?(?:limitations?|limits|weaknesses|caveats)(?: (?:and|of) [\w ]{{1,30}})?(?:\*\*)?"
    r"[ \t]*(?:[—–:.-][ \t]*(?=\S)|$)",
    re.IGNORECASE | re.MULTILINE,
)
# A paragraph states limits from the sentence that holds one of these.
LIMITED = re.compile(
    r"\b(?:limitations?|limited by|cautions?|caveats?|weakness(?:es)?|shortcomings?)\b|\bnot (?:be )?generali[sz]",
    re.IGNORECASE,
)
NEXT_SECTION = re.compile(
    r"^(?:#{1,6}[ \t]|(?:\d{1,2}|[IVX]{1,4})\.?[ \t]+[A-Z][^.!?\n]{1,60}$|[A-Z][A-Z &-]{4,60}$"
    r"|(?i:introduction|background|references)[ \t]*$|\**(?i:key ?words?|index terms)\b)",
    re.MULTILINE,
)
# Sections that a study has; an annual report has a summary, too.
STUDY_SECTION = re.compile(
    rf"^{_NUMBER}(?P<name>abstract|introduction|background|(?:materials and )?methods?|results|discussion|conclusions?"
    r"|references|limitations|limits)\b",
    re.IGNORECASE | re.MULTILINE,
)
# The parts of a structured abstract: "**Findings.** Learners scored ..."
PART = re.compile(
    r"(?:^\**|(?<=[.!?] )\*\*)(?P<name>background|context|questions?|objectives?|aims?|purpose|introduction|setting"
    r"|design|participants|materials?|methods?(?: and [a-z]+)?|interventions?|measurements?|results?"
    r"|(?:main |key )?findings|conclusions?|interpretation|limitations?|implications)\**\s?[.:]\**\s+",
    re.IGNORECASE | re.MULTILINE,
)
PARTS_OF: dict[Kind, re.Pattern[str]] = {
    "findings": re.compile(r"results?|(?:main |key )?findings|conclusions?|interpretation", re.IGNORECASE),
    "aim": re.compile(r"questions?|objectives?|aims?|purpose", re.IGNORECASE),
    "limits": re.compile(r"limitations?", re.IGNORECASE),
}
# Says what was done.
DID = re.compile(
    r"\b(?:we|i|this (?:paper|study|article|work)|the authors?) (?:then |also |first |here )?(?:tests?|tested|compare"
    r"|examine|stud(?:y|ied)|investigate|measure|collect|analy[sz]e|survey|ask|present|propose|introduce|describe"
    r"|evaluate|conduct|randomi[sz]e|assign|interview|review|develop|train|explore|consider|use|report on|identify"
    r"|follow|observe)(?:d|s|ed)?\b|\b(?:was|were) (?:then )?(?:assigned|allocated|randomi[sz]ed|measured|recorded"
    r"|collected|sampled|tested|recruited|drawn|interviewed|surveyed|invited)\b",
    re.IGNORECASE,
)
# Phrases that announce a finding; then words typical of findings.
SAYS_FOUND = re.compile(
    r"\bwe (?:\w+ly )?(?:find|found|show|demonstrate|conclude|achieve|recommend)\b|\b(?:show|find|suggest|reveal"
    r"|indicate|demonstrate|conclude)(?:s|ed|ing)? that\b|\bfound that\b|\b(?:results|findings|experiments|data)"
    r" (?:show|suggest|indicate|demonstrate|reveal|confirm)",
    re.IGNORECASE,
)
FOUND = re.compile(
    r"\b(?:outperform\w*|surpass\w*|exceed\w*|achiev\w+|improv\w+|increas\w+|decreas\w+|reduc\w+|rose|fell|declin\w+"
    r"|lowered|lower|higher|fewer|better|best|worse|worst|cheape\w+|faster|slower|larger|smaller|significant\w*"
    r"|differ(?:ed|s|ences?)?|against|than|compared (?:with|to)|no effect|scored|raised|gain\w*|lost|slow(?:s|ed)"
    r"|state[- ]of[- ]the[- ]art|by far|per cent|percent|accura\w+|correlat\w+|associated with)\b|\d ?%",
    re.IGNORECASE,
)
# Where to get it, what others found, and footnotes.
ASIDE = re.compile(
    r"https?://|github|\b(?:code|data|models?)\b.{0,60}\bavailable\b|\b(?:release|share) (?:our|all|the)\b"
    r"|\bfor (?:code|data)\b|\A\d[A-Za-z]|\A(?:recent|prior|previous|earlier) (?:work|studies|research)",
    re.IGNORECASE,
)
# Says what was asked.
AIMS = re.compile(
    r"\bwhether\b|\b(?:aim|objective|purpose|goal)s?\b|\b(?:we|this (?:paper|study|article|work)) (?:\w+ )?(?:tests?"
    r"|tested|examined?s?|stud(?:y|ied|ies)|investigated?s?|ask(?:s|ed)?|proposed?s?|present(?:s|ed)?|introduced?s?"
    r"|compared?s?|explored?s?)\b",
    re.IGNORECASE,
)
MINUTES = re.compile(r"\b(?:minutes|meeting|resolutions?|protocol)\b", re.IGNORECASE)
DECIDED = re.compile(
    r"\A(?:agreed|resolved|decided) (?:to|that)\b|\b(?:was|were|been|is|are) (?:\w+ )?(?:agreed|decided|resolved"
    r"|approved|adopted|carried|accepted|rejected|elected|appointed|passed)\b|\bturned down\b|\b(?:committee|board"
    r"|meeting|members|council|assembly|chair|we|they|everyone) (?:\w+ )?(?:agreed|decided|resolved|approved|adopted"
    r"|accepted|rejected|elected|appointed|confirmed|voted)\b|\b(?:decisions?|resolution|agreed|resolved|decided):"
    r"|\bcarried by\b|\bvoted (?:to|for|against)\b",
    re.IGNORECASE,
)
# Each meeting approves the minutes of the last.
ROUTINE = re.compile(r"\bminutes\b.{0,80}\b(?:approved|accepted|adopted|agreed)\b", re.IGNORECASE | re.DOTALL)
# What was decided may stand in the sentence before.
OF_BEFORE = re.compile(
    r"\A(?:this|that|it|these|they)\b(?! was (?:agreed|decided|resolved)\b)|\bthe (?:proposal|motion|suggestion"
    r"|request|offer|amendment)\b|\bvoted (?:for|against)\b",
    re.IGNORECASE,
)
PROPOSES = re.compile(r"\bpropos|\bmoved\b|\bmotion\b|\bsuggest|\brequest|\basked\b", re.IGNORECASE)
# An abstract stands at the beginning; a section is read no further than this.
ABSTRACT_WITHIN_CHARS, SECTION_CHARS = 6_000, 3_500
ITEM_NUMBER = re.compile(r"\A(?:\d{1,2}|[IVX]{1,4})[.)]\s+")


def section_below(text: str, heading: re.Match[str]) -> tuple[int, int, bool]:
    """Return where the section below a heading begins and ends, and whether it ends there or was cut off."""
    limit = heading.end() + SECTION_CHARS
    following = NEXT_SECTION.search(text, heading.end(), limit)
    if following is not None:
        return heading.end(), following.start(), True
    return heading.end(), min(len(text), limit), limit >= len(text)
