"""Words that ask, link or are polite and name nothing. Questions drop them; the index keeps every word.

A question made of these alone has no term, so that it finds nothing (SYS-A6). Part of the analyzer: a change is a new ANALYZER_VERSION.
"""

from __future__ import annotations

_ENGLISH = """
    a about above after again all also am an and any anybody anyone anything are aren as at be because been before being below between both but by
    can cannot could couldn did didn do does doesn doing don done during each either else ever every few for from further get gets give given gives got had hadn has hasn have haven having
    he hello help her here hers herself hey hi him himself his how i if in into is isn it its itself just kindly know let like many may me might more most
    much must my myself need needs neither no nor not now of off on once one ones only or other our ours ourselves out over own please
    same shall she should shouldn so some somebody someone something such tell than thank thanks that the their theirs them themselves then there these they
    thing things this those though through to too under until up upon us very want wants was wasn we were weren what when where whether which while who whom
    whose why will with won would wouldn yes yet you your yours yourself yourselves
"""

_CHINESE = """
    的 地 得 了 着 過 过 吗 嗎 呢 吧 啊 呀 嘛 哦 么 麼 是 为 為 有 没有 沒有 没 沒 在 于 於 和 与 與 及 以及 或 或者 还是 還是 跟 同 对 對 对于 對於 关于 關於 从 從 到 由 被 把 将 將 让 讓 给 給 向 以 因 因为 因為 所以
    但 但是 而 而且 并 並 并且 並且 也 都 还 還 又 就 才 只 很 太 更 最 再 不 不是 是不是 有没有 有沒有 能不能 可不可以 要不要 会不会 會不會 能 能够 能夠 可以 可 会 會 要 需要 想 想要 应该 應該 应当 應當
    我 我们 我們 你 你们 你們 您 他 她 它 他们 他們 她们 她們 它们 它們 这 這 那 这个 這個 那个 那個 这些 這些 那些 这里 這裡 那里 那裡 之 其 其中 所 者 个 個 些 里 裡 中 上 下 时 時 时候 時候 什么时候 什麼時候
    什么 什麼 甚麼 谁 誰 哪 哪个 哪個 哪些 哪里 哪裡 哪儿 哪兒 何 何时 何時 何地 何处 何處 何种 何種 为何 為何 如何 怎么 怎麼 怎样 怎樣 怎么样 怎麼樣 为什么 為什麼 多少 几 幾 多久 多长 多長 多大 是否
    请 請 请问 請問 请教 請教 麻烦 麻煩 谢谢 謝謝 您好 你好 告诉 告訴 知道 一下 一个 一個 帮 幫 帮忙 幫忙
"""

ENGLISH_STOP_WORDS = frozenset(_ENGLISH.split())
CHINESE_STOP_WORDS = frozenset(_CHINESE.split())
