"""Units in English and Chinese: their names, kinds, and exact conversions. Months are never days, working days never calendar days."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Unit:
    """A canonical unit: `value * factor` counts `base`."""

    name: str
    kind: str
    base: str
    factor: Decimal


def _unit(name: str, kind: str, base: str, factor: str = "1") -> Unit:
    return Unit(name, kind, base, Decimal(factor))


_ROWS: tuple[tuple[Unit, str, str], ...] = (
    # unit, English aliases (case is folded), Chinese aliases
    (_unit("percent", "percent", "percent"), "% percent pct per_cent", "% ％"),
    (_unit("permille", "percent", "percent", "0.1"), "‰", "‰"),
    (_unit("percentage_point", "percent", "percentage_point"), "percentage_point percentage_points pp", "个百分点 百分点"),
    (_unit("second", "duration", "second"), "second seconds sec secs s", "秒 秒钟"),
    (_unit("millisecond", "duration", "second", "0.001"), "ms millisecond milliseconds", "毫秒"),
    (_unit("minute", "duration", "second", "60"), "minute minutes min mins", "分钟"),
    (_unit("hour", "duration", "second", "3600"), "hour hours hr hrs h", "小时 个小时 钟头 个钟头"),
    (_unit("day", "duration", "second", "86400"), "day days calendar_day calendar_days consecutive_days", "天 日 个自然日 自然日 个日历日"),
    (_unit("week", "duration", "second", "604800"), "week weeks wk wks", "周 星期 个星期 礼拜 个礼拜"),
    (
        _unit("workday", "duration", "workday"),
        "working_day working_days business_day business_days workday workdays weekdays",
        "个工作日 工作日 个工作天",
    ),
    (_unit("month", "duration", "month"), "month months calendar_month calendar_months", "个月 个月份 月"),
    (_unit("quarter", "duration", "month", "3"), "quarter quarters", "季度 个季度"),
    (_unit("year", "duration", "month", "12"), "year years yr yrs years_old year_old years_of_age", "年 周年 岁 周岁 周岁"),
    (_unit("USD", "money", "USD"), "usd us_dollar us_dollars dollar dollars", "美元 美金"),
    (_unit("CNY", "money", "CNY"), "cny rmb yuan renminbi", "元 元人民币 块 块钱 人民币"),
    (_unit("EUR", "money", "EUR"), "eur euro euros", "欧元"),
    (_unit("GBP", "money", "GBP"), "gbp pound_sterling pounds_sterling pounds", "英镑"),
    (_unit("penny", "money", "GBP", "0.01"), "pence penny", "便士"),
    (_unit("JPY", "money", "JPY"), "jpy yen", "日元 日圆"),
    (_unit("HKD", "money", "HKD"), "hkd", "港元 港币"),
    (_unit("CHF", "money", "CHF"), "chf swiss_francs", "瑞士法郎"),
    (_unit("INR", "money", "INR"), "inr rupees", "卢比"),
    (_unit("metre", "length", "metre"), "m metre metres meter meters", "米 公尺"),
    (_unit("kilometre", "length", "metre", "1000"), "km kilometre kilometres kilometer kilometers", "公里 千米"),
    (_unit("centimetre", "length", "metre", "0.01"), "cm centimetre centimetres centimeter centimeters", "厘米 公分"),
    (_unit("millimetre", "length", "metre", "0.001"), "mm millimetre millimetres millimeter millimeters", "毫米"),
    (_unit("mile", "length", "metre", "1609.344"), "mile miles", "英里"),
    (_unit("foot", "length", "metre", "0.3048"), "ft foot feet", "英尺"),
    (_unit("inch", "length", "metre", "0.0254"), "inch inches", "英寸"),
    (_unit("square_metre", "area", "square_metre"), "sqm m² m2 square_metres square_meters square_metre square_meter", "平方米 平方公尺 平米"),
    (_unit("square_kilometre", "area", "square_metre", "1000000"), "km² km2 square_kilometres square_kilometers", "平方公里"),
    (_unit("hectare", "area", "square_metre", "10000"), "ha hectare hectares", "公顷"),
    (_unit("square_mile", "area", "square_metre", "2589988.110336"), "square_mile square_miles", "平方英里"),
    (_unit("gram", "mass", "gram"), "g gram grams", "克"),
    (_unit("kilogram", "mass", "gram", "1000"), "kg kgs kilogram kilograms kilo kilos", "千克 公斤"),
    (_unit("milligram", "mass", "gram", "0.001"), "mg milligram milligrams", "毫克"),
    (_unit("tonne", "mass", "gram", "1000000"), "tonne tonnes ton tons", "吨 公吨"),
    (_unit("litre", "volume", "litre"), "l litre litres liter liters", "升 公升"),
    (_unit("millilitre", "volume", "litre", "0.001"), "ml millilitre millilitres milliliter milliliters", "毫升"),
    (_unit("byte", "data", "byte"), "byte bytes", "字节"),
    (_unit("kilobyte", "data", "byte", "1000"), "kb kilobyte kilobytes", ""),
    (_unit("megabyte", "data", "byte", "1000000"), "mb megabyte megabytes", "兆"),
    (_unit("gigabyte", "data", "byte", "1000000000"), "gb gigabyte gigabytes", ""),
    (_unit("terabyte", "data", "byte", "1000000000000"), "tb terabyte terabytes", ""),
    (_unit("mebibyte", "data", "byte", "1048576"), "mib", ""),
    (_unit("gibibyte", "data", "byte", "1073741824"), "gib", ""),
    (_unit("celsius", "temperature", "celsius"), "°c ℃ degrees_celsius celsius", "℃ 摄氏度 度"),
    (_unit("fahrenheit", "temperature", "fahrenheit"), "°f ℉ degrees_fahrenheit fahrenheit", "℉ 华氏度"),
    (_unit("kilometre_per_hour", "speed", "kilometre_per_hour"), "km/h kph kmh", "公里每小时 公里/小时"),
    (_unit("watt", "power", "watt"), "w watt watts", "瓦"),
    (_unit("kilowatt", "power", "watt", "1000"), "kw kilowatt kilowatts", "千瓦"),
    (_unit("volt", "voltage", "volt"), "v volt volts", "伏"),
    (_unit("time", "count", "time"), "times", "次 回 遍 趟"),
    (_unit("person", "count", "person"), "people persons person", "人 名 位 个人"),
    (_unit("fold", "count", "fold"), "fold x", "倍"),
    (_unit("piece", "count", "piece"), "", "个 件 项 种 条 款"),
    (_unit("machine", "count", "machine"), "", "台 部 架 辆 艘"),
    (_unit("copy", "count", "copy"), "", "份 本 册 张 页 篇"),
    (_unit("household", "count", "household"), "", "家 所 座 间 栋 户"),
    (_unit("session", "count", "session"), "", "场 届 期 级 层 支 队 集 首 只 头 字"),
)

UNITS: dict[str, Unit] = {unit.name: unit for unit, _, _ in _ROWS}
_ENGLISH: dict[str, Unit] = {alias.replace("_", " "): unit for unit, english, _ in _ROWS for alias in english.split()}
_CHINESE: dict[str, Unit] = {alias: unit for unit, _, chinese in _ROWS for alias in chinese.split()}
SIGNS: dict[str, str] = {
    "US$": "USD", "HK$": "HKD", "A$": "AUD", "C$": "CAD", "S$": "SGD", "$": "USD", "€": "EUR", "£": "GBP", "¥": "CNY", "￥": "CNY", "₹": "INR",
    "USD": "USD", "EUR": "EUR", "GBP": "GBP", "CNY": "CNY", "RMB": "CNY", "JPY": "JPY", "HKD": "HKD", "CHF": "CHF", "INR": "INR",
    "PLN": "PLN", "人民币": "CNY",
}  # fmt: skip


def _alternation(aliases: list[str]) -> str:
    return "|".join(re.escape(alias).replace(r"\ ", "[ -]") for alias in sorted(aliases, key=len, reverse=True))


_LETTER_END = r"(?![A-Za-z])"
ENGLISH_UNIT = rf"(?:{_alternation([a for a in _ENGLISH if a not in {'%', '‰'}])}){_LETTER_END}|[%‰]"
CHINESE_UNIT = _alternation(list(_CHINESE))
MONEY_SIGN = "|".join(re.escape(sign) for sign in sorted(SIGNS, key=len, reverse=True))


def find_unit(alias: str) -> Unit:
    """The unit behind a written alias; a currency sign without a row of its own is a unit of itself."""
    folded = re.sub(r"[ -]+", " ", alias.strip().lower())
    unit = _CHINESE.get(alias.strip()) or _ENGLISH.get(folded)
    if unit is not None:
        return unit
    name = SIGNS[alias.strip().upper()]
    return UNITS.get(name) or _unit(name, "money", name)
