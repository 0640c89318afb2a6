"""Instruction-like text that is aimed at a language model: refused as evidence before anything is scored (SYS-A7).

Rules look for the three things that ordinary policies do not do: overrule a prompt, speak to a model, or steer the answer
that a model gives. A request to people ("ignore suspicious e-mails", "your reply should be polite") does none of them.
"""

from __future__ import annotations

import re
import unicodedata

from documents.parsing.invisible import strip_invisible

_MODEL = (
    r"(?:a\.?i\.?|llms?|gpt(?:-?\d\w*)?|chatgpt|claude|gemini|copilot|(?:large )?language models?|chat ?bots?|(?:ai"
    r"|virtual|digital) (?:assistants?|agents?|systems?|models?))"
)
_ANSWER = r"(?:answers?|responses?|repl(?:y|ies)|outputs?|messages?|summar(?:y|ies)|completions?)"
_RULES = (
    r"(?:instructions?|prompts?|directions?|directives?|commands?|guidelines?|guardrails?|rules|context|constraints"
    r"|restrictions|programming|training)"
)
_NOT = r"(?<!not )(?<!never )(?<!n't )(?<!cannot )"
_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|system|your)"

_ENGLISH = {
    "overrides_instructions": (
        rf"{_NOT}\b(?:ignore|disregard|forget|override|bypass|discard|overrule|do not follow|don't follow"
        rf"|stop following)\b(?: \w+){{0,3}}? {_BEFORE}(?: \w+){{0,2}}? {_RULES}\b",
        r"\b(?:ignore|disregard|forget)\b (?:everything|anything|all)(?: \w+){0,3}? (?:above|before|previously|so far|you were told"
        r"|you have been told)\b",
        r"\bnew (?:system )?(?:instructions|prompt|directive)s?\s*:",
        rf"\b(?:the )?{_BEFORE} {_RULES} (?:is|are|was|were|has been|have been) (?:now )?(?:void|cancell?ed|revoked|superseded|no longer valid"
        r"|obsolete)\b",
    ),
    "assigns_role": (
        rf"\byou(?: are|'re| will be| must be) (?:now |henceforth )?(?:an? |the )?(?:\w+[ -]){{0,4}}?{_MODEL}\b",
        r"\byou are now (?:dan\b|jailbroken|unrestricted|unfiltered|free of|in (?:developer|debug|admin|god|unrestricted|jailbreak) mode"
        r"|no longer (?:bound|restricted))",
        r"\bfrom now on,? you (?:are|will|must|shall|should|only|always|never|can|have to)\b(?! be (?:asked|able|paid"
        r"|required))[^.\n]{0,40}\b(?:act|answer|respond|reply|speak|behave|pretend|obey|say|write|output|call)\b",
        r"\b(?:act|behave|respond|pretend|roleplay) as (?:if you (?:are|were) )?(?:an? )?(?:unrestricted|uncensored|unfiltered|evil|jailbroken"
        rf"|{_MODEL} (?:with|without|that)|dan\b)",
        r"\bpretend (?:that )?you (?:have no|are not bound|are free of|do not have) \w*\s?(?:rules|restrictions|limits|guidelines|filters?)",
    ),
    "asks_for_prompt": (
        r"\b(?:reveal|print|show|output|repeat|leak|display|disclose|expose|recite|dump|send|give)\b(?: \w+){0,3}? (?:your"
        r"|the) (?:\w+ )?(?:system|initial|hidden|secret|original|full|entire|developer) (?:prompt|instructions|message)",
        r"\byour (?:system prompt|hidden instructions|initial instructions|prompt)\b",
        r"(?:^|\n)\s*(?:system|developer) (?:prompt|message|override|instruction)s?\s*:",
    ),
    "addresses_model": (
        r"\b(?:notes?|message|instructions?|attention|important|notice|reminder|hint|memo)(?: \w+)?[ :-]+(?:to|for)\s*:? (?:the |any |all "
        rf"|every )?(?:\w+ )?{_MODEL}\b(?! (?:team|group|committee|users?|vendors?|projects?|training|policy))",
        rf"(?:^|[.!?\n>]\s*)(?:dear |hey |hello |attention,? )?(?:the )?{_MODEL}\s*[:,]\s*(?:please|you|do|don't|ignore|always|never|when|note"
        r"|say|answer|respond|treat|rate)\b",
        rf"\bif you(?: are|'re) (?:an? )?(?:\w+ )?{_MODEL}\b",
        rf"\b{_MODEL} (?:reading|processing|parsing|summari[sz]ing|evaluating|reviewing|analy[sz]ing) this\b",
        r"\bas an (?:ai|artificial intelligence)(?: language model| assistant)?,? (?:you|i)\b",
    ),
    "conceals": (
        r"\b(?:do not|don't|never|must not|without) (?:ever )?(?:tell|telling|inform|informing|notify|notifying|alert|alerting"
        r"|mention(?:ing)? (?:this |it |that )?to|reveal(?:ing)? (?:this |it |that )?to) the (?:end )?user\b",
        r"\b(?:do not|don't|never) (?:mention|reveal|disclose|acknowledge|repeat|quote) (?:this|these|the above|the existence of this"
        r"|that you (?:saw|read|received)) (?:hidden )?(?:note|instruction|comment|message|paragraph|prompt|text|sentence)s?\b",
    ),
    "steers_answer": (
        r"\b(?:modify|enhance|augment|encode|encrypt|encipher|render|rearrange|scramble|jumble|convert|transform|obfuscate|reverse|translate"
        rf"|infuse|garble|shuffle|misspell|introduce|replace|substitute|remove)\b[^.\n]{{0,60}}?\b(?:in |of |for "
        rf"|from )?your (?:\w+ )?{_ANSWER}\b",
        r"\b(?:integrate|embed|incorporate|weave|insert|append|include|add|mention|inject|hide"
        rf"|slip)\b[^\n]{{0,160}}?[\"“”'][^\n]{{0,160}}?\b(?:in|into|to|at the (?:end|start|beginning) of) (?:all )?your (?:\w+ )?{_ANSWER}\b",
        rf"\b(?:integrate|embed|incorporate|weave|inject|infuse)\b[^.\n]{{0,100}}?\b(?:in|into|to|within"
        rf"|throughout) (?:all )?your (?:\w+ )?{_ANSWER}\b",
        r"\bin your (?:\w+ )?(?:answer|response|reply|output|summary),? (?:also )?(?:mention|include|add|say|state|claim|recommend|promote"
        r"|insert|embed|advise|tell|use (?:only|emojis?))\b",
        rf"\b(?:apply|use)\b[^.\n]{{0,50}}?\b(?:cipher|emojis?|anagrams?|base ?\d\d|leet ?speak|homophon\w+|rot ?13"
        rf"|substitution)\b[^.\n]{{0,60}}?\byour (?:\w+ )?{_ANSWER}\b",
        r"\b(?:provide|give|write|deliver|present|output|state|represent|express|group"
        rf"|split)\b[^.\n]{{0,30}}?\byour {_ANSWER}\b[^.\n]{{0,30}}?\b(?:without any spaces|base ?\d\d|cipher\w*|encod\w+|anagram\w*|emojis?"
        r"|reverse\w*|rot ?13|morse|hex(?:adecimal)?|leet ?speak|fours|threes|pairs)\b",
        r"\b(?:no matter|regardless of) what the (?:user|question|prompt) (?:asks|says|is)\b",
        r"\b(?:when|whenever|if) (?:the|a|any) user asks\b[^.\n]{0,80}?\b(?:say|answer|respond|reply|claim|state|recommend)\b",
        r"\b(?:answer|respond|reply) (?:only )?(?:with|by saying) (?:only )?[\"“'][^\"”'\n]{1,80}[\"”'] (?:to|for|regardless|no matter"
        r"|whatever|and nothing)\b",
        r"\b(?:begin|start|end|finish|preface|conclude) (?:all |every |each )?(?:of )?your (?:answers?|responses?|repl(?:y|ies)|outputs?) with\b",
    ),
}
_CHINESE = {
    "overrides_instructions": (
        r"(?:忽略|无视|忘记|忘掉|丢弃|不要遵守|不再遵守|跳过|违背|覆盖)[^。！？\n]{0,6}?(?:以上|之前|上述|上文|前面|先前|此前|前述|系统|原有|原来|所有|全部|你的|引用)[^。！？\n]{0,6}?(?:指令|提示词?|规则|设定|命令"
        r"|约束|限制)",
        r"(?:之前|以上|先前|原有|上述)的?(?:所有|全部)?(?:规则|指令|提示词?|设定)(?:已经|已|均|全部|现在)*(?:作废|失效|取消|无效)",
        r"上文[^。\n]{0,12}?(?:测试数据|无效|作废)[^。\n]{0,10}?(?:丢弃|忽略)",
        r"新的?(?:系统)?(?:指令|提示词)\s*[:：]",
    ),
    "assigns_role": (
        r"(?:你现在|从现在(?:开始|起)[，,]?你|现在起[，,]?你)(?:是|就是|要?扮演|将扮演|作为|必须|只能)",
        r"(?:假设|假装|设想|想象|扮演)[^。\n]{0,6}?(?:没有|不受|无)(?:任何)?(?:限制|约束|规则|道德)",
        r"(?:假设|假装|设想|想象)你是[^。\n]{0,20}?(?:助手|ai|模型|机器人|智能体)",
        r"你是(?:一个|一名|本公司的?)?[^。，\n]{0,14}?[，,][^。\n]{0,6}?以(?:第一人称|其身份|该身份)",
        r"以[^。，\n]{1,8}的身份继续(?:对话|回答)",
    ),
    "asks_for_prompt": (
        r"(?:输出|显示|打印|泄露|透露|重复|复述|告诉我|展示|公开)[^。\n]{0,8}?(?:系统提示词?|系统指令|初始指令|隐藏指令|你的提示词)",
        r"你的(?:系统)?提示词",
        r"(?:^|\n|[。！？>])\s*系统(?:指令|提示词|命令)\s*[:：]",
        r"系统(?:消息|提示)\s*[:：][^\n]{0,30}?(?:规则|指令|忽略|输出|回答|答复)",
    ),
    "addresses_model": (
        r"(?:给|致|告知|提醒)(?:各位|所有)?(?:大?语言模型|大模型|ai(?:助手|模型|系统)?|人工智能助手|问答助手|机器人|智能体|自动(?:审核|问答|评审)系统)\s*[:：]",
        r"(?:^|[\n。！？>]\s*)(?:大?语言模型|(?:评审|审核|问答)?模型|大模型|ai(?:助手|模型)?|人工智能|智能体|(?:ai|智能|问答)助手)\s*(?:请注意|注意|请|须知|必须)",
        r"(?:如果|若|假如)你是(?:一个)?(?:ai|大?语言模型|大模型|人工智能|机器人)",
    ),
    "conceals": (
        r"(?:不要|不得|请勿|切勿|别)(?:告诉|告知|提醒|透露给|让)用户",
        r"(?:不要|请勿|切勿)(?:提及|透露|提到|复述)(?:本|这条|此|上述|该)(?:注释|指令|说明|提示|消息|段落)",
    ),
    "steers_answer": (
        r"(?:无论|不管)(?:用户|提问者|对方|别人|谁)(?:问|提问|说|询问)(?:什么|到什么|任何|起)?",
        r"(?:把|将|对)?你的(?:全部|所有)?(?:回答|答案|回复|输出)(?:全部|全都|都)?(?:用|以|改|翻译|编码|附|加|必须|中)",
        r"(?:被问及|被问到|有人问|用户问)[^。\n]{0,24}?(?:统一|一律|必须|只能)(?:答复|回答|回复|说)(?:为|成|是)?[“\"「『]",
        r"对(?:所有|任何|一切)[^。\n]{0,12}?问题[^。\n]{0,4}?回答[“\"「]",
        r"(?:回答任何问题|给出任何答案|回答(?:问题)?之?前)[^。\n]{0,6}?[，,]?[^。\n]{0,4}?(?:请|先|一律|必须|都)",
        r"(?:写在|写入|复制到|附在|插入到?|加在)(?:答案|回答)(?:的|第|中|末|开头|里)",
        r"在(?:答案|回答|回复|输出)(?:的)?(?:末尾|开头|最后|结尾|中|第一行)(?:必须|请)?(?:附上|写明|写上|加上|插入|注明|声明|输出)",
        r"(?:然后|之后|以后|完成后)再(?:继续)?(?:回答|处理[^。\n]{0,4}?问题)",
        r"(?:不要|请勿|无需|省略|不得)(?:所有|任何)?引用(?:其他|任何|别的|编号|来源|财务|其它)",
        r"(?:代替|替代)(?:对)?[^。\n]{0,6}?问题的回答",
        r"(?:只|仅)(?:回答|输出|回复)[“\"「][^”\"」\n]{1,30}[”\"」]",
        r"(?:编造|捏造|伪造)[^。\n]{0,20}?(?:引用|来源|出处|依据|编号)[^。\n]{0,6}?(?:作为|当作|用作)?",
        r"(?:找不到|没有)(?:依据|资料|答案|来源)[^。\n]{0,4}?[，,]?也要(?:给出|回答|输出)",
        r"(?:即使|哪怕)(?:资料|文档|原文)(?:里|中)?有答案",
        r"(?:直接|一律)(?:给出)?(?:肯定|否定)(?:的)?(?:答复|回答)",
        r"(?:再|后再|才)回答[。！]",
    ),
}
_MARKUP = {
    "chat_markup": (
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|?>",
        r"</?(?:system|assistant|instructions?|prompt|context|evidence|human|sys)(?:\s[^>\n]{0,60})?>",
        r"\[/?(?:inst|system|sys)\]|<</?sys>>",
        r"(?:^|\n)\s*#{2,4} ?(?:system|instructions?|response|human|assistant) ?:\s*\n",
        r"(?:^|\n)\s*(?:end|begin) (?:of )?(?:system|prompt|context|document|retrieved (?:text|documents?))\b.{0,20}\n+\s*(?:system|user"
        r"|assistant|new)\b",
    ),
    "wrapped_request": (
        # A notice that asks the reader a question, or for a piece of work only a model would hand in.
        r"(?:^|\n|[.!?] )\s*(?:important|attention|note|urgent)\s*[:!]\s*(?:can|could|would|will|how|what|who|which|why|where|when|is|are|do"
        r"|does|please (?:tell|show|write))\b[^.!?\n]{4,240}\?",
        r"(?:^|\n)\s*(?:important|attention|urgent)\s*[:!]\s*(?:please )?(?:show me|tell me|give me|write (?:a|an|me)|translate the"
        r"|summari[sz]e (?:the|this)|recommend (?:a|an|some|me)|"
        r"suggest (?:a|an|some)|generate|compose|explain (?:how|the|what)|describe (?:how|the)|list (?:the|some|five|three)|calculate|classify"
        r"|find me|create a (?:script|poem|list|story))\b",
        r"<!--\s*(?:[a-z]+ )?(?:write|show|tell|give|translate|summari[sz]e|recommend|suggest|generate|compose|explain|can you|could you|how"
        r"|what|who|which|where|when|why|ignore|act as|encode|"
        r"modify|in your|respond|answer|integrate|find|describe|calculate|classify|determine|analy[sz]e|convert|render|provide an?)\b[^>]{8,400}-->",
        rf"<!--[^>]{{0,300}}?\byour {_ANSWER}\b",
    ),
}


# What each family needs at least: most text has none of it, and pays for this look only.
_HINTS = {
    "overrides_instructions": (
        "ignor",
        "disregard",
        "forget",
        "overrid",
        "bypass",
        "discard",
        "overrul",
        "follow",
        "new ",
        "void",
        "cancel",
        "revoked",
        "supersed",
        "obsolete",
    ),
    "assigns_role": ("you are", "you're", "you will be", "you must be", "from now on", "act as", "behave as", "respond as", "pretend", "roleplay as"),
    "asks_for_prompt": ("system", "prompt", "instructions", "developer"),
    "addresses_model": (
        "ai ",
        " ai",
        "ai:",
        "ai,",
        "a.i",
        "llm",
        "gpt",
        "claude",
        "gemini",
        "copilot",
        "language model",
        "chat bot",
        "chatbot",
        "virtual ",
        "digital ",
        "artificial intell",
    ),
    "conceals": ("do not ", "don't ", "never ", "must not ", "without "),
    "steers_answer": ("your ", "the user", "user asks", "what the ", "answer ", "respond ", "reply "),
    "chat_markup": ("<", "[", "##", "begin ", "end "),
    "wrapped_request": ("<!--", "important", "attention", "urgent", "note:", "note :", "note!"),
}
_HINTS_CHINESE = (
    *("指令", "提示", "规则", "设定", "命令", "限制", "约束", "作废", "你", "模型", "ai", "智能", "助手", "机器人", "用户"),
    *("回答", "答案", "答复", "回复", "输出", "引用", "编造", "捏造", "伪造", "身份", "丢弃", "系统", "注释", "不管", "无论"),
)


def _compile(families: dict[str, tuple[str, ...]]) -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    joined = ((reason, "|".join(f"(?:{rule})" for rule in rules)) for reason, rules in families.items())
    return tuple((reason, _HINTS_CHINESE if families is _CHINESE else _HINTS[reason], re.compile(rules)) for reason, rules in joined)


_COMPILED, _COMPILED_CHINESE = _compile(_MARKUP) + _compile(_ENGLISH), _compile(_CHINESE)
_COMPILED_OVERRIDE = tuple(family for family in _COMPILED if family[0] == "overrides_instructions")  # read across lines as well
_HAN = re.compile("[\u4e00-\u9fff]")
_SOFT_BREAK = re.compile(r"(?<![.!?:;>\n])\n(?=[a-z])")
# Cyrillic and Greek letters that pass for Latin ones, read as such in words that mix the scripts.
_TO_LATIN = str.maketrans("аеорсухіјѕԁɡαορνιΑΒΕΗΙΚΜΝΟΡΤΧАВЕКМНОРСТХ", "aeopcyxijsdgaopviABEHIKMNOPTXABEKMHOPCTX")
_LOOKALIKE = re.compile("[A-Za-z][а-яіјѕԁɡα-ωΑ-ΩА-Я]|[а-яіјѕԁɡα-ωΑ-ΩА-Я][A-Za-z]")
_SPACES = re.compile(r"[^\S\n]+")


def unsafe_reason(text: str) -> str:
    """Why `text` must not be evidence: the name of the first rule family that matches, or "" when none does.

    Args: text: as a reader or a model would see it; unseen code points are removed before it is judged.
    """
    plain = strip_invisible(text)
    is_ascii = plain.isascii()
    if not is_ascii:
        plain = unicodedata.normalize("NFKC", plain).replace("’", "'")
        if _LOOKALIKE.search(plain):
            plain = plain.translate(_TO_LATIN)
    plain = _SOFT_BREAK.sub(" ", _SPACES.sub(" ", plain)).casefold()
    reason = _first(_COMPILED, plain) or ("\n" in plain and _first(_COMPILED_OVERRIDE, plain.replace("\n", " "))) or ""
    return reason if reason or is_ascii or not _HAN.search(plain) else _first(_COMPILED_CHINESE, plain)


def _first(rules: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...], text: str) -> str:
    return next((reason for reason, hints, pattern in rules if any(hint in text for hint in hints) and pattern.search(text)), "")
