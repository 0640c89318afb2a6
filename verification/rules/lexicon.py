"""Word lists that the rules of answering share. Each list is explicit, so that a test can name what is ignored and why."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Function words: they say nothing of what a question is about.
ENGLISH_STOP = _set("""a an the and or but if then than so as of in on at to for from by with about into onto over under up down out off is are was were be been being am
    do does did doing done has have had having will would shall should can could may might must this that these those there here it its they them their theirs he
    him his she her hers we us our ours you your yours i me my mine one ones some any also just very too own same such s t d ll ve re m who whom whose which what when
    where why how whether while during before after between through above below again further once each both own per via upon within without not no nor only
    get got gets getting go goes make made makes let us please many much long often far old kind type sort name called known use used using else ever""")
# Kept as content although short or frequent: they change what is asked.
ENGLISH_KEPT = _set("before after without within not no only during between above below under over first last")
CHINESE_STOP = _set("""的 了 在 是 和 与 及 或 而 但 就 都 也 还 很 被 把 让 给 从 到 对 为 以 于 由 向 将 会 能 可以 可 要 应 应该 需要 需 有 没有 吗 呢 吧 啊 呀 嘛 么 之 其 所 此 这 那 这个 那个
    这些 那些 它 他 她 他们 她们 它们 我 我们 你 你们 您 自己 什么 哪 哪个 哪些 哪里 哪儿 哪位 哪种 哪 谁 何 何时 何地 怎么 怎样 怎么样 如何 为什么 为何 多少 几 几个 多 多久 多长 多大
    是否 是不是 能否 能不能 可不可以 有没有 一个 一种 一些 个 种 位 名 次 请 请问 一下 帮 告诉 想 知道 时候 做 进行 以及 等 上 下 中 里 内 后 前 时 者 不 只 最 更 又 再 则 即 若 如果
    因 因为 所以 而且 并 并且 叫 叫做 称为 关于 根据 属于 称 使 使用 主要 哪一 哪一年 哪年 年 月 日""")
CHINESE_KEPT = _set("不 只 最 前 后 内 没有")

# Politeness and framing: removed before anything is read. Longest first.
POLITE_ENGLISH = (
    r"(?:hi|hello|dear all|good (?:morning|afternoon|evening))[,!. ]+",
    r"(?:could|can|would|will) you (?:please |kindly )?(?:tell|let) (?:me|us) (?:know )?",
    r"(?:please |kindly )?(?:tell|inform|let) (?:me|us)(?: know)? ",
    r"(?:i|we) (?:would|'d) (?:like|love) to know ",
    r"(?:i|we) (?:want|need|wish) to know ",
    r"(?:i was|i am|i'm|we are) wondering ",
    r"do you (?:happen to )?know ",
    r"(?:please|kindly) ",
    r"[, ]*(?:please|thank you(?: very much| in advance)?|thanks(?: in advance| a lot)?)(?=[.!? ]*$)",
)
POLITE_CHINESE = (
    r"^(?:您好|你好|嗨|大家好)[，,！!。 ]*",
    r"^(?:麻烦|劳驾|烦请|不好意思|打扰一下)[，, ]*",
    r"^(?:请问一下|请问|请教一下|请教|请告诉我|告诉我|帮我查一下|帮我查查|帮忙查一下|我想知道|我想问一下|我想问|想问一下|想问|想知道|你知道|您知道)[，,：: ]*",
    r"[，, ]*(?:谢谢|多谢|感谢)(?:您|你|了|啦)?(?=[。！!？? ]*$)",
)

NEGATIONS_ENGLISH = _set(
    "not no never none nobody nothing neither nor cannot without isn't aren't wasn't weren't don't doesn't didn't can't won't shouldn't mustn't"
)
NEGATION_CHINESE = r"不(?!同|断|仅|只是|久|过|管|论|少于|低于|超过)|没有?|未(?!来)|无(?!论|限)|勿|禁止|非(?!常)|别(?!人|的)"

# Groups whose members may stand for one another. Only plain office and encyclopaedia words; the first word of each is its name.
SYNONYMS_ENGLISH = (
    "buy purchase procure acquire buying procurement",
    "begin start commence initiate launch open",
    "end finish terminate conclude cease stop",
    "staff employee employees worker personnel",
    "delete remove purge erase wipe",
    "allow permit permitted authorise authorize",
    "need require required must mandatory necessary",
    "pay cost price fee charge payment",
    "notify report inform tell alert",
    "maximum longest most highest largest upper max",
    "minimum least lowest shortest smallest min",
    "keep store retain hold save kept",
    "create establish found form set built build",
    "die death died killed",
    "born birth birthplace",
    "write author wrote written",
    "wife husband spouse marry",
    "rule reign govern king queen",
    "live reside dwell inhabit",
    "send transmit submit deliver",
    "cancel cancellation terminate",
    "quick fast soon rapid",
    "big large great huge",
    "small little tiny",
    "win victory defeat won",
    "city town",
    "movie film",
    "show display demonstrate",
    "choose select pick",
    "help assist support aid",
    "buy bought",
    "get receive obtain",
    "help aid",
    "job role position",
    "doctor physician",
    "car vehicle automobile",
    "change alter modify amend",
    "increase rise grow raise",
    "decrease fall drop reduce decline lower",
    "recommend suggest advise",
    "happen occur",
    "arrive come reach",
    "forbidden prohibited banned disallowed",
    "holiday vacation leave",
    "phone telephone",
    "email e-mail mail",
    "company firm business corporation organisation organization",
    "trip travel journey",
    "above over plus",
    "below under minus",
)
SYNONYMS_CHINESE = (
    "费用 价格 金额 花费 价钱 票价 售价",
    "员工 职员 雇员 工作人员",
    "必须 应当 需要 须",
    "至少 最少 不少于 不低于",
    "最多 至多 不超过 上限",
    "建立 成立 创立 创建 设立 创办 创始 建成 始建",
    "位于 坐落 地处 坐落于",
    "出生 生于 诞生",
    "死 去世 逝世 卒 病逝",
    "联系 联络",
    "开始 启动 开端",
    "结束 完成 终止",
    "删除 清除 移除",
    "保留 保存 存储 留存",
    "允许 可以 准许 许可",
    "禁止 不得 不准 不可",
    "推荐 建议",
    "首都 首府",
    "别名 又名 别称 又称 俗称 亦称",
    "总部 总公司",
    "作者 著 撰写 编写",
    "导演 执导",
    "毕业 就读",
    "面积 占地",
    "简称 缩写",
    "职责 职能 负责",
    "原因 由于 因为 因",
    "目的 为了 旨在",
    "籍贯 人氏 出身",
    "时长 时间 期限",
    "举办 举行 召开",
    "获得 荣获 取得 夺得",
    "电话 热线 号码",
    "分布 产于 生长",
    "特点 特征",
)

# Pairs that exclude each other: the question says one, the sentence the other.
OPPOSITES = (
    ("increase", "decrease"),
    ("rise", "fall"),
    ("more", "less"),
    ("maximum", "minimum"),
    ("first", "last"),
    ("north", "south"),
    ("east", "west"),
    ("northern", "southern"),
    ("eastern", "western"),
    ("above", "below"),
    ("before", "after"),
    ("win", "lose"),
    ("open", "close"),
    ("start", "end"),
    ("old", "new"),
    ("largest", "smallest"),
    ("highest", "lowest"),
    ("best", "worst"),
    ("internal", "external"),
    ("public", "private"),
    ("legal", "illegal"),
    ("male", "female"),
    ("上", "下"),
    ("增加", "减少"),
    ("上升", "下降"),
    ("最大", "最小"),
    ("最高", "最低"),
    ("之前", "之后"),
    ("开始", "结束"),
    ("南", "北"),
    ("东", "西"),
    ("内部", "外部"),
    ("公开", "私有"),
)

ABBREVIATIONS = _set("""mr mrs ms dr prof st sr jr vs etc e.g i.e cf al inc ltd co corp no nos vol pp fig figs eq dept est approx ca gen col lt sgt capt gov sen rep rev hon ph.d m.d b.a u.s u.k
    u.n a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec mt ft art sec ch ed eds op""")
# Before a word they make another of it: 陪产假 is no 产假, a vice president no president.
PREFIXES_CHINESE = "陪副非准亚伪养继岳"
PREFIXES_ENGLISH = _set("non ex vice deputy co sub semi step anti pseudo acting former assistant")
PRONOUNS_ENGLISH = _set("it this that these those they he she him her them its their his such")
PRONOUNS_CHINESE = ("它", "他", "她", "其", "该", "此", "这", "那", "本")
