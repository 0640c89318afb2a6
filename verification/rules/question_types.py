"""What kind of answer a question asks for, and whether a text holds an answer of that kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verification.rules.lexicon import NEGATION_CHINESE, NEGATIONS_ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from verification.rules.numbers import Quantity

ANSWER_TYPES = (
    "number",
    "date",
    "when",
    "duration",
    "money",
    "percent",
    "frequency",
    "time",
    "person",
    "place",
    "yes_no",
    "which",
    "list",
    "reason",
    "manner",
    "definition",
    "contact",
    "other",
)
QUANTITY_TYPES = frozenset({"number", "frequency", "percent", "money", "duration", "date", "when", "time"})
_I = re.compile
_TIME_NOUN = r"(?:seconds?|minutes?|hours?|(?:business |working |calendar )?days?|weeks?|months?|quarters?|years?)"
_ENGLISH: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("contact", _I(r"\b(?:phone|telephone|fax)(?: number)?\b|\be-?mail address\b|\b(?:url|web ?site|link)\b|\bwhich number\b")),
    (
        "percent",
        _I(r"\b(?:what|which) (?:percentage|percent|proportion|share|fraction)|\bhow many percent|\bpercentage of\b|\bwhat .{0,20}\bpercentage\b"),
    ),
    (
        "money",
        _I(
            r"\bhow much (?:money|does .*\b(?:cost|pay|charge)|do .*\b(?:cost|pay|charge)|did .*\b(?:cost|pay|spend)|is (?:the|a|an) .*\b(?:fee|price|fine|subsidy|allowance|budget|salary|cost|grant)|.*\bin (?:dollars|euros|pounds|usd|yuan))|\bwhat (?:is|was|are|were|does|did) .*\b(?:price|cost|fee|fine|salary|allowance|bounty|budget|subsidy|amount paid)\b|\bhow much\b.*\b(?:paid|cost|worth|money)\b|\bwhat (?:do|does|did|must|will|would|should) .*\b(?:pay|cost|charge)\b"
        ),
    ),
    ("frequency", _I(r"\bhow (?:often|frequently)\b")),
    (
        "number",  # a place in a row, and the length of a text, which is no time
        _I(
            r"\b(?:what|which) (?:calendar |working |business )?(?:day|week|month|year) of (?!(?:the )?(?:week|month|year)\b|\d)"
            r"|\bhow long (?:must|should|can|may|could|shall) .*\bbe\b"
        ),
    ),
    (
        "duration",
        _I(
            rf"\b(?:for )?how long\b(?! (?:is|was) the (?:river|bridge|road|line|coast|wall))|\bhow (?:soon|quickly|fast)\b|\b(?:within|in|after|for|by) (?:what|which) (?:time|period|length of time)|\bhow many (?:[a-z]+ )?{_TIME_NOUN}\b|\bwhat is the (?:[a-z]+ ){{0,3}}(?:duration|deadline|notice period|retention period|response time|longest .*day)\b|\bhow much (?:time|notice)\b"
        ),
    ),
    (
        "number",
        _I(
            r"\bhow (?:many|much|tall|high|deep|wide|old|large|big|far|heavy|hot|cold)\b|\bwhat (?:number|population|size|height|depth|length|distance|temperature|area|score|altitude|elevation)\b|\bwhat(?:['’]s| is| was| are| were) the (?:[a-z]+ ){0,4}(?:number|quantity|amount|population|size|height|depth|length|distance|temperature|area|score|altitude|elevation|limit|minimum|maximum)\b|\bwhat .{0,20}\brate\b|\bhow long (?:is|was) the\b"
        ),
    ),
    ("time", _I(r"\b(?:at )?(?:what|which) (?:time|hour)\b(?! (?:period|frame|zone))|\bopening hours\b")),
    (
        "date",
        _I(r"\b(?:what|which) (?:year|date|day|month|decade|century|quarter)\b|\bwhat was the date\b"),
    ),
    ("when", _I(r"^(?:since |until |by |and )?when\b(?!.*,\s*(?:what|who|how|which|where|why|does|do|is|are|can|must)\b)|\bsince when\b")),
    (
        "person",
        _I(
            r"\bwho(?:m|se|'s|’s)?\b|\b(?:what|which) (?:person|man|woman|king|queen|emperor|president|leader|author|scientist|artist|actor|director|player|general|team|people|group|company|organi[sz]ation|department|role)\b|\b(?:what|which) (?:is|was) the name of the (?:person|man|woman)"
        ),
    ),
    (
        "place",
        _I(
            r"\bwhere\b|\b(?:in |at |to |from )?(?:what|which) (?:place|city|country|state|town|region|location|county|continent|river|island|village|street|building|room|repository)\b"
        ),
    ),
    ("reason", _I(r"\bwhy\b|\bfor what reason\b|\bwhat (?:is|was|were) the (?:reason|cause|purpose)|\bwhat caused\b")),
    (
        "yes_no",
        _I(r"^(?:is|are|was|were|am|do|does|did|has|have|had|can|could|may|might|must|should|will|would|shall|isn't|aren't|don't|doesn't|can't)\b"),
    ),
    (
        "list",
        _I(
            r"\b(?:what|which) (?:are|were) the\b|\b(?:list|name) (?:all|the)\b|\b(?:what|which) (?:[a-z]+ )?(?:companies|countries|items|steps|things|types|kinds|documents|roles|groups|products)\b"
        ),
    ),
    ("manner", _I(r"\bhow\b")),
    (
        "definition",
        _I(
            r"\bwhat (?:is|are) (?:an? |the )?[\w'’-]+(?: [\w'’-]+)?\?*$|\bwhat does .* (?:mean|stand for)\b|\bdefin(?:e|ition)\b|\bmeaning of\b|\bwhat is meant\b"
        ),
    ),
    ("which", _I(r"\b(?:which|what)\b")),
)
_TIME_ZH = "(?:秒|分钟|小时|个小时|天|日|周|个星期|星期|个月|年|个工作日|工作日)"
_CHINESE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("contact", _I(r"电话(?:号码)?是|(?:哪个|什么)(?:电话|号码|邮箱|网址)|邮箱是|网址是|联系方式")),
    ("percent", _I(r"百分之(?:几|多少)|百分比|比例(?:是|为|有)|占.{0,8}(?:几成|多少)|多少(?:个)?百分")),
    (
        "money",
        _I(
            r"多少(?:钱|元|美元|万元|亿元|人民币|欧元|英镑|港元|港币|日元)|(?:价格|金额|费用|票价|售价|成本|工资|薪水|奖金|赏金|补贴|预算|造价|票房)[^，,的]{0,8}(?:多少|几|是什么)"
        ),
    ),
    ("frequency", _I(rf"(?:多久|多长时间|[几多少]+{_TIME_ZH})(?:[^，,。？?]{{0,6}})[一1]次|每(?:天|周|月|年|季度)几次|频率")),
    (
        "duration",
        _I(
            rf"多久|多长时间|多少时间|(?:几|多少){_TIME_ZH}(?!代|级|出生|成立|开始|[^内之后前]{{0,12}}[的发]生?日)|多少(?:小时|分钟|天)|期限(?:是|为|有)|(?:保质|保修|保证|试用|有效)期"
        ),
    ),
    (
        "date",
        _I(
            r"何年|何月|何日|哪一?年|哪一?天|哪一?月|哪个?(?:月|世纪|年代|时代|朝代|时期)|几(?:月|号|日)|什么(?:日期|年代|时期)|(?:时间|日期)(?:是|为)|多少年(?:出生|成立|开始)|于何"
        ),
    ),
    ("when", _I(r"什么时[候间]|何时")),
    ("number", _I(r"多少|几(?!乎|何|率)|多(?:大|高|长|远|重|宽|深|快)|数量|人口(?:是|为|有)|面积(?:是|为|有)|第几")),
    ("person", _I(r"谁|哪位|哪个人|什么人|哪名|何人|哪一位|哪些人")),
    (
        "place",
        _I(
            r"哪里|哪儿|何处|何地|什么(?:地方|地区|位置|国家|城市)|哪个?(?:国家?|城市|省|市|县|区|州|岛|地方|地区|大洲|街道|镇|村)|哪一?(?:国|省|市|县|区|州|洲)|位于(?:什么|哪)|哪些(?:地方|地区|国家|城市)"
        ),
    ),
    ("reason", _I(r"为什么|为何|原因|何故|因何|什么(?:目的|原因)")),
    ("yes_no", _I(r"吗[?？]?$|是否|是不是|能不能|可不可以|能否|可否|有没有|要不要|对不对|会不会|需不需要")),
    ("list", _I(r"哪些|哪几|哪两|哪三|哪四|包括什么|分别")),
    ("manner", _I(r"如何|怎么|怎样")),
    ("definition", _I(r"^什么是|是什么(?:意思)?[?？]?$|什么意思|指的是什么|含义|定义")),
    ("which", _I(r"哪|什么|何")),
)
_KINDS: dict[str, frozenset[str]] = {
    "percent": frozenset({"percent"}),
    "money": frozenset({"money"}),
    "duration": frozenset({"duration", "per"}),
    "frequency": frozenset({"per", "duration", "weekday"}),
    "date": frozenset({"date", "weekday", "time", "slashed_date"}),
    "when": frozenset({"date", "weekday", "time", "slashed_date", "duration"}),
    "time": frozenset({"time", "clock", "clock12"}),
}
_NOT_COUNTS = frozenset({"date", "time", "weekday", "per", "slashed_date"})
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_CONTACT = re.compile(r"\(?\+?\d[\d() -]{6,}\d|[\w.+-]+@[\w-]+\.\w+|https?://|www\.|\[[^\]]*\]\([^)]*\)|</?a\b", re.I)
_CAPITAL = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]*")
_PERSON_WORDS = re.compile(
    r"\b(?:you|we|they|he|she|team|staff|employees?|manager|office|people|department|owner|lead|members?|company|committee|officer|director|supervisor)\b",
    re.I,
)
_REASON = re.compile(
    r"\b(?:because|due to|since|so that|in order to|as a result|therefore|thus|owing to|caused?|reason|to [a-z]+)\b|因为|由于|因此|为了|以便|所以|原因|使得|导致|因|避免",
    re.I,
)
_RULING = re.compile(
    r"\b(?:may|must|can|cannot|allowed|permitted|forbidden|prohibited|banned|required|mandatory|compulsory|obligatory|optional|not need|not have to)\b"
    r"|可以|允许|准许|不得|禁止|严禁|必须|不准|无需|不必|不能|应当?(?=[由在先按向])",
    re.I,
)
_ASKS_RULING = re.compile(
    r"^(?:is|are) .*\b(?:allowed|permitted|forbidden|prohibited|banned|required|mandatory|compulsory|obligatory|optional)\b|^(?:may|must|should|can) "
    r"|^do(?:es)? .*\b(?:have|has|need) to\b"
    r"|能不能|可不可以|能否|可否|需不需要|(?:可以|允许|禁止|必须|需要).*吗[?？]?$|是否(?:可以|允许|禁止|必须|需要)",
    re.I,
)
_PLACE = re.compile(r"\b(?:in|at|near|on|from|to|within|under|inside|into)\b|在|位于|于|省|市|县|区|国|州|岛|镇|村|路|街|山|河|地|洲", re.I)
_CHINESE_PERSON = re.compile(r"[人者家长员师组委会司]|由|[\u4e00-\u9fff]{2,4}")
_WHEN_WORDS = re.compile(
    r"\b(?:when|after|before|once|until|during|upon|as soon as|today|annually|daily|weekly|monthly|century|centuries|decade|era|war)\b|时候|之后|以前|之前|期间|世纪|年代|时期|朝|当天|月底|年底|T-\d",
    re.I,
)


def find_answer_type(question: str, lang: str) -> str:
    """One of ANSWER_TYPES; the first pattern that fits decides."""
    text = question.strip().casefold() if lang == "en" else question.strip()
    for name, pattern in _ENGLISH if lang == "en" else _CHINESE:
        if pattern.search(text):
            return name
    return "other"


def find_unit_hints(question: str, lang: str) -> tuple[str, ...]:
    """The counted thing: "how many *people*", 多少*人*."""
    if lang == "en":
        found = re.search(r"\b(?:how many|number of) ((?:[a-z'’-]+ ?){1,3})", question, re.I)
        return tuple(found[1].split()) if found else ()
    found = re.search(r"(?:多少|几)(?:个|位|名|种|次|条|座|所|家|部|首|篇|届|支|只)?([\u4e00-\u9fff]{1,3})?", question)
    return (found[0].lstrip("多少几"),) if found and found[0].lstrip("多少几") else ()


def is_negated(text: str, lang: str) -> bool:
    if lang == "zh":
        return re.search(NEGATION_CHINESE, text) is not None
    words = re.findall(r"[a-z]+(?:['’]t)?", text.casefold())
    return any(word.replace("’", "'") in NEGATIONS_ENGLISH for word in words)


def fitting_quantities(answer_type: str, quantities: Iterable[Quantity], asked: Iterable[Quantity]) -> tuple[Quantity, ...]:
    """The quantities of the asked kind that the question does not already say."""
    said = {(quantity.kind, quantity.value, quantity.unit) for quantity in asked}
    fresh = [quantity for quantity in quantities if (quantity.kind, quantity.value, quantity.unit) not in said]
    if answer_type == "number":
        return tuple(quantity for quantity in fresh if quantity.kind not in _NOT_COUNTS)
    if answer_type in {"date", "when"}:
        return tuple(quantity for quantity in fresh if quantity.kind in _KINDS[answer_type] or is_bare_year(quantity))
    return tuple(quantity for quantity in fresh if quantity.kind in _KINDS.get(answer_type, frozenset()))


def is_bare_year(quantity: Quantity) -> bool:
    """Four digits alone that can be a year."""
    return quantity.kind == "number" and _YEAR.fullmatch(quantity.text) is not None


def rate_type(answer_type: str, text: str, fitting: Iterable[Quantity], question_words: frozenset[str]) -> float:
    """1: an answer of this kind is in the text; 0.5: could be; 0: it is not; 0.7 where the kind cannot be told."""
    if answer_type in QUANTITY_TYPES:
        if any(True for _ in fitting):
            return 1.0
        return 0.5 if answer_type in {"date", "when"} and _WHEN_WORDS.search(text) else 0.0
    if answer_type == "contact":
        return 1.0 if _CONTACT.search(text) else 0.0
    if answer_type == "reason":
        return 1.0 if _REASON.search(text) else 0.3
    if answer_type not in {"person", "place"}:
        return 0.3 if answer_type == "manner" and " · " in text else 0.7  # cells and fields name values, they do not say how
    return (_rate_person if answer_type == "person" else _rate_place)(text, question_words)


def tells_ruling(question: str, text: str) -> bool:
    """Whether it is asked if something is allowed or required, and the text says that something is or is not."""
    return _ASKS_RULING.search(question) is not None and _RULING.search(text) is not None


def _rate_place(text: str, question_words: frozenset[str]) -> float:
    names = [name for name in _CAPITAL.findall(text) if name.casefold() not in question_words]
    return 1.0 if names and _PLACE.search(text) else 0.6 if _PLACE.search(text) else 0.2


def _rate_person(text: str, question_words: frozenset[str]) -> float:
    names = [name for name in _CAPITAL.findall(text) if name.casefold() not in question_words]
    if names:
        return 1.0
    return 0.6 if _PERSON_WORDS.search(text) or _CHINESE_PERSON.search(text) else 0.1
