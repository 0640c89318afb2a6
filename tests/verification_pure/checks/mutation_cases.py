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

# (evidence, what it supports, what it does not): clauses about different things, exceptions, bounds, voice
CONTRASTS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "The cafeteria serves hot meals from 11:30 to 14:00 on weekdays, and only sandwiches after that.",
        ("Hot meals are served from 11:30 am to 2 pm on weekdays.",),
        (
            "Hot meals are served from 11:30 to 15:00 on weekdays.",
            "The cafeteria does not serve hot meals on weekdays.",
            "Hot meals are served after 14:00.",
        ),
    ),
    (
        "New laptops are replaced every four years; tablets are replaced every three years.",
        ("Laptops are replaced every 4 years.", "Tablets get replaced every three years."),
        ("Laptops are replaced every three years.", "Tablets are replaced every four years.", "Laptops are replaced every four months."),
    ),
    (
        "Dr. Keller leads the Zurich lab while Ms. Osei leads the Accra lab.",
        ("The Zurich lab is led by Dr. Keller.", "Ms. Osei leads the Accra lab."),
        ("Dr. Keller leads the Accra lab.", "Ms. Osei leads the Zurich lab.", "Mr. Brown leads the Zurich lab."),
    ),
    (
        "Employees are not required to wear badges inside the building, but guests must wear them at all times.",
        ("Guests must wear badges at all times.", "Employees do not have to wear badges inside the building."),
        (
            "Employees must wear badges inside the building.",
            "Guests need not wear badges.",
            "Employees are not allowed to wear badges inside the building.",
        ),
    ),
    (
        "Sick leave exceeding three consecutive days requires a medical certificate.",
        (
            "A medical certificate is required for sick leave of more than three consecutive days.",
            "Sick leave of over 3 consecutive days requires a medical certificate.",
        ),
        (
            "Sick leave of less than three consecutive days requires a medical certificate.",
            "Sick leave exceeding five consecutive days requires a medical certificate.",
            "Sick leave exceeding three consecutive days does not require a medical certificate.",
        ),
    ),
    (
        "The warehouse temperature must stay below 8 °C.",
        ("The temperature in the warehouse must stay under 8 °C.",),
        ("The warehouse temperature must stay above 8 °C.", "The warehouse temperature must stay below 18 °C."),
    ),
    (
        "Project Falcon was approved in March 2023 with a budget of $2.4 million.",
        ("Project Falcon has a budget of 2.4 million dollars.", "Project Falcon was approved in March 2023."),
        (
            "Project Falcon was rejected in March 2023.",
            "Project Falcon was approved in May 2023.",
            "Project Falcon has a budget of $2.4 billion.",
            "Project Eagle was approved in March 2023.",
        ),
    ),
    (
        "Customers can return items up to 60 days after purchase, except for clearance items.",
        ("Customers can return items up to 60 days after purchase, except clearance items.",),
        (
            "Customers can return items up to 60 days before purchase.",
            "Customers cannot return items after purchase.",
            "Customers can return clearance items up to 60 days after purchase.",
        ),
    ),
    (
        "The shuttle leaves the main gate every 20 minutes between 7 am and 10 am.",
        ("Between 7 and 10 am the shuttle leaves the main gate every 20 minutes.", "The shuttle leaves every 20 minutes."),
        ("The shuttle leaves the main gate every 20 hours.", "The shuttle leaves the main gate every 30 minutes."),
    ),
    (
        "Encryption is mandatory for all data stored on portable drives.",
        ("All data stored on portable drives must be encrypted.", "Data on portable drives must be encrypted."),
        ("Encryption is optional for data stored on portable drives.", "Encryption is not mandatory for data stored on portable drives."),
    ),
    (
        "The probation period lasts six months and can be extended once by three months.",
        ("Probation lasts 6 months.", "The probation period can be extended by three months once."),
        (
            "The probation period lasts three months.",
            "The probation period can be extended by six months.",
            "The probation period cannot be extended.",
        ),
    ),
    (
        "Suppliers are paid 45 days after receipt of a valid invoice.",
        ("Suppliers get paid 45 days after a valid invoice is received.",),
        (
            "Suppliers are paid 45 days before receipt of a valid invoice.",
            "Suppliers are paid 45 days after receipt of an invalid invoice.",
            "Suppliers are never paid after receipt of a valid invoice.",
        ),
    ),
    (
        "食堂在工作日11:30至14:00供应热餐。",
        ("工作日11点半到14点食堂供应热餐。",),
        ("食堂在工作日11:30至15:00供应热餐。", "食堂在周末11:30至14:00供应热餐。", "食堂在工作日不供应热餐。"),
    ),
    (
        "笔记本电脑每四年更换一次，平板每三年更换一次。",
        ("笔记本电脑每4年更换一次。", "平板电脑每三年更换一次。"),
        ("笔记本电脑每三年更换一次。", "平板每四年更换一次。", "笔记本电脑每四个月更换一次。"),
    ),
    (
        "员工无需佩戴胸牌，访客必须全程佩戴胸牌。",
        ("访客须全程佩戴胸牌。", "员工不必佩戴胸牌。"),
        ("员工必须佩戴胸牌。", "访客无需佩戴胸牌。", "员工不得佩戴胸牌。"),
    ),
    (
        "连续病假超过三天需提供医院证明。",
        ("病假连续超过3天的，需要提供医院证明。",),
        ("连续病假不足三天需提供医院证明。", "连续病假超过五天需提供医院证明。", "连续病假超过三天无需提供医院证明。"),
    ),
    (
        "猎鹰项目于2023年3月获批，预算为240万美元。",
        ("猎鹰项目的预算是240万美元。", "猎鹰项目2023年3月获批。"),
        ("猎鹰项目于2023年5月获批。", "猎鹰项目的预算是240万元。", "猎鹰项目于2023年3月未获批。"),
    ),
    ("试用期为六个月，可延长一次，最长三个月。", ("试用期为6个月。", "试用期六个月。"), ("试用期为六周。", "试用期为三个月。", "试用期不可延长。")),
    (
        "供应商在收到有效发票后45天内获得付款。",
        ("收到有效发票后45天内向供应商付款。",),
        ("供应商在收到有效发票前45天内获得付款。", "供应商在收到有效发票后45天后获得付款。", "供应商在收到有效发票后54天内获得付款。"),
    ),
    (
        "仓库温度应保持在8℃以下。",
        ("仓库温度应当保持在8℃以下。",),
        ("仓库温度应保持在8℃以上。", "仓库温度不应保持在8℃以下。", "仓库温度应保持在18℃以下。"),
    ),
    (
        "王芳负责上海仓库，李强负责广州仓库。",
        ("上海仓库由王芳负责。", "李强负责广州仓库。"),
        ("王芳负责广州仓库。", "李强负责上海仓库。", "陈静负责上海仓库。"),
    ),
    (
        "顾客可在购买后60天内退货，清仓商品除外。",
        ("顾客可以在购买后60天内退货，清仓商品除外。",),
        ("顾客可在购买前60天内退货。", "顾客不得在购买后退货。", "清仓商品可在购买后60天内退货。"),
    ),
    (
        "移动硬盘上的数据必须加密。",
        ("移动硬盘上的数据须加密。", "移动硬盘的数据必须进行加密。"),
        ("移动硬盘上的数据可以加密。", "移动硬盘上的数据不必加密。"),
    ),
    (
        "会议室预订须提前两个工作日提交。",
        ("会议室预订必须提前2个工作日提交。",),
        ("会议室预订须提前两天提交。", "会议室预订须推迟两个工作日提交。", "会议室预订须提前三个工作日提交。"),
    ),
)

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
