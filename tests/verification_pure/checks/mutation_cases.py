"""Policy sentences in English and Chinese with clean paraphrases, and small mutators that change what a sentence says."""

from __future__ import annotations

import re

# (evidence, clean paraphrases)
ENGLISH: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Employees must submit travel claims within 30 days of the trip.", ("Travel claims must be submitted within thirty days of the trip.",)),
    ("The front desk opens at 9 am and closes at 6 pm.", ("The front desk closes at 18:00.", "The front desk opens at 9:00.")),
    ("Annual leave increases to 28 days after five years of service.", ("After 5 years of service, annual leave increases to 28 days.",)),
    ("Visitors may park in zone B for at most 4 hours.", ("Visitors can park in zone B for up to 4 hours.",)),
    ("Alice approves invoices above $5,000, and Bob audits them.", ("Invoices above 5,000 dollars are approved by Alice.",)),
    ("Contractors may not enter the server room without an escort.", ("Contractors must not enter the server room without an escort.",)),
    ("The Berlin office moved to Globex Tower on May 1, 2024.", ("On 1 May 2024 the Berlin office moved to Globex Tower.",)),
    ("Passwords must have at least 12 characters and expire after 90 days.", ("A password must have at least 12 characters.", "Passwords expire after 90 days.")),
    ("Refunds are paid within two weeks after approval.", ("Refunds are paid within 14 days after approval.",)),
    ("Revenue increased by 12% in FY2024.", ("In FY2024, revenue increased by 12 percent.",)),
    ("Interns should complete the safety course before the first shift.", ("Before the first shift, interns should complete the safety course.",)),
    ("The Acme warranty covers parts for 24 months.", ("Parts are covered by the Acme warranty for two years.",)),
    ("Managers must approve overtime before it is worked.", ("Overtime must be approved by managers before it is worked.",)),
    ("A deposit of 200 euros is required for every rental laptop.", ("Every rental laptop requires a deposit of €200.",)),
    ("Remote work is allowed on Monday and Friday.", ("Remote work is permitted on Friday and Monday.",)),
    ("Smoking is prohibited in all buildings.", ("Smoking is not allowed in buildings.", "Smoking is forbidden in all buildings.")),
    ("The minimum order is 50 units per month.", ("The minimum order per month is 50 units.",)),
    ("Charlie reports to Alice.", ("Charlie reports to Alice.",)),
    ("The backup runs every night at 11 pm and takes 90 minutes.", ("The backup takes 1.5 hours.", "The backup runs at 23:00 every night.")),
    ("Temperatures above 30 °C must be reported to the facility team.", ("The facility team must be told of temperatures above 30 °C, which must be reported.",)),
)  # fmt: skip
CHINESE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("员工必须在出差结束后30天内提交报销申请。", ("员工必须在出差结束后三十天内提交报销申请。",)),
    ("新台开放时间为上午九点至下午六点。", ("新台的开放时间是9:00至18:00。", "新台上午9点开放。")),
    ("工龄满五年后，年假增加到28天。", ("年假在工龄满5年后增加到28天。",)),
    ("访客最多可以停车4小时。", ("访客可以停车，最多4个小时。",)),
    ("超过5000元的发票由财务经理批准。", ("财务经理批准超过5000元的发票。",)),
    ("承包商不得进入机房。", ("承包商不能进入机房。", "禁止承包商进入机房。")),
    ("柏林办事处于2024年5月1日迁至环球大厦。", ("2024年5月1日，柏林办事处迁至环球大厦。",)),
    ("密码至少12位，每90天更换一次。", ("密码至少12位。", "密码每90天更换一次。")),
    ("退款将在批准后两周内支付。", ("退款在批准后14天内支付。",)),
    ("2024财年收入增长12%。", ("2024财年收入增长百分之十二。",)),
    ("实习生应当在首次上岗之前完成安全培训。", ("实习生在首次上岗之前应当完成安全培训。",)),
    ("保修期为24个月。", ("保修期为2年。", "保修期是二十四个月。")),
    ("加班必须事先经部门经理批准。", ("加班必须经部门经理事先批准。",)),
    ("每台租用电脑须缴纳押金200元。", ("每台租用电脑的押金为200元。",)),
    ("周一和周五可以远程办公。", ("周五和周一可以远程办公。", "星期一可以远程办公。")),
    ("所有楼内禁止吸烟。", ("楼内不得吸烟。",)),
    ("最低订购量为每月50件。", ("每月最低订购量为50件。",)),
    ("张伟向李娜汇报工作。", ("张伟向李娜汇报工作。",)),
    ("备份在每晚十一点进行，耗时90分钟。", ("备份耗时1.5小时。",)),
    ("项目预算为350万元，使用Acme系统管理。", ("项目预算为3,500,000元。", "项目用Acme系统管理。")),
)  # fmt: skip

_UNITS = (
    (r"\bdays\b", "weeks"), (r"\bweeks\b", "months"), (r"\bmonths\b", "weeks"), (r"\byears\b", "months"), (r"\bhours\b", "minutes"), (r"\bminutes\b", "hours"),
    (r"\$(?=\d)", "€"), (r"\beuros\b", "dollars"), ("%", " percentage points"), (r" am\b", " pm"), (r"per month", "per week"), ("°C", "°F"), (r"(\d)个月", r"\1周"),
    (r"([\d两五])(?:周|年(?!\d|5))", r"\1个月"), (r"(\d)天", r"\1小时"), (r"(\d)小时", r"\1分钟"), (r"(\d)分钟", r"\1秒"), (r"万元", "美元"), (r"(\d)元", r"\1美元"), ("上午", "下午"), ("每月", "每周"),
)  # fmt: skip
_DIRECTIONS = (
    ("increase", "decrease"), ("above", "below"), ("at least", "at most"), ("at most", "at least"), ("opens", "closes"), ("before", "after"), ("within", "after"),
    ("minimum", "maximum"), ("增加", "减少"), ("增长", "下降"), ("超过", "低于"), ("至少", "至多"), ("最多", "至少"), ("之前", "之后"), ("最低", "最高"), ("天内", "天后"), ("开放", "关闭"),
)  # fmt: skip
_NEGATIONS = (
    (r"\bmust\b", "must not"), (r"\bmay not\b", "may"), (r"\bmay\b(?! not)", "may not"), (r"\bshould\b", "should not"), (r"\bis allowed\b", "is not allowed"), (r"\bis prohibited\b", "is allowed"),
    (r"\bis required\b", "is not required"), (r"\bare paid\b", "are not paid"), (r"\breports\b", "does not report"), (r"\bopens\b", "does not open"), (r"\bmoved\b", "never moved"),
    (r"\bapproves\b", "does not approve"), (r"\bcovers\b", "does not cover"), (r"\bincreased\b", "did not increase"), (r"\bincreases\b", "does not increase"), (r"\bruns\b", "does not run"), (r"\border is\b", "order is not"),
    ("必须", "无需"), ("不得", "可以"), ("可以", "不得"), ("禁止", "允许"), ("应当", "不应"), ("(?<!不)为", "不为"), ("须", "无须"), ("由", "不由"), ("增加", "不增加"), ("迁至", "未迁至"), ("将在", "不会在"),
    ("增长", "没有增长"), ("至少", "不必"), ("向", "不向"), ("进行", "不进行"),
)  # fmt: skip
_MODALITIES = ((r"\bmust\b", "may"), (r"\bshould\b", "must"), (r"\bmay\b(?! not)", "must"), ("必须", "可以"), ("应当", "可以"), ("可以", "必须"))
_NAMES = (
    ("Alice", "Charlie"), ("Berlin", "Paris"), ("Globex", "Acme"), ("Acme", "Globex"), ("zone B", "zone C"), ("FY2024", "FY2023"), ("Monday", "Tuesday"), ("柏林", "巴黎"), ("周一", "周二"), ("李娜", "王芳"),
)  # fmt: skip
_SWAPS = (("Charlie", "Alice"), ("Alice", "Bob"), ("张伟", "李娜"))


def _replace_first(text: str, rows: tuple[tuple[str, str], ...]) -> list[str]:
    return [re.sub(old, new, text, count=1) for old, new in rows if re.search(old, text)]


def mutate_numbers(text: str) -> list[str]:
    digits = [found.start() for found in re.finditer(r"(?<![\dFY])[1-9](?=[\d,]*)", text)]
    changed = [text[:place] + str(int(text[place]) % 9 + 1) + text[place + 1 :] for place in digits]
    return changed + _replace_first(
        text,
        ((r"\btwo\b", "three"), (r"\bfive\b", "six"), ("九点", "八点"), ("六点", "七点"), ("两周", "三周"), ("五年", "六年"), ("十一点", "十点")),
    )


def mutate_units(text: str) -> list[str]:
    return _replace_first(text, _UNITS)


def mutate_negation(text: str) -> list[str]:
    return _replace_first(text, _NEGATIONS)


def mutate_modality(text: str) -> list[str]:
    return _replace_first(text, _MODALITIES)


def mutate_direction(text: str) -> list[str]:
    return _replace_first(text, _DIRECTIONS)


def mutate_names(text: str) -> list[str]:
    swapped = [text.replace(one, "\0").replace(other, one).replace("\0", other) for one, other in _SWAPS if one in text and other in text]
    return _replace_first(text, _NAMES) + swapped


MUTATORS = {
    "number": mutate_numbers,
    "unit": mutate_units,
    "negation": mutate_negation,
    "modality": mutate_modality,
    "direction": mutate_direction,
    "name": mutate_names,
}
