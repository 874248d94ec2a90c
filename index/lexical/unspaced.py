"""Cut Chinese and Japanese, which have no blanks between words, into what can be searched for.

Flow: texts -> **here** -> `tantivy_index.py` indexes pairs of characters; `foreign_words.py` searches for those of a
question's content. A dictionary of words would weigh more than this project's models together; pairs find as much, if
what asks and what inflects is left out before ("什么时候", "ですか"). Pure.
"""

import re
from itertools import pairwise

# Kana and Chinese characters.
_CHARACTERS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
RUN = re.compile(f"[{_CHARACTERS}]+")
# What asks, joins or inflects. Longer ones stand first; of single characters only those that seldom name a thing.
_CHINESE = re.compile(
    "为什么|为何|什么时候|什么样|什么|怎么样|怎么办|怎样|怎么|如何|多少|多久|多长|多大|多高|几点|几天|几个|几次|哪里|哪儿"
    "|哪些|哪个|哪|谁|是否|能不能|可不可以|可以|能够|应该|应当|应|需要|必须|不得|不能|没有|我们|你们|他们|它们|自己|我|你|您|他|她|它|这个|那个|这"
    "|那|时候|之前|之后|以前|以后|以及|或者|还是|关于|对于|一个|的话|的|了|着|过|吗|呢|吧|啊|是|在|和|与|或|及|把|被|给|让|从|到|对|向|于|而|且|也|都"
    "|就|才|又|很|最|更|请问|请|能|会|要|想|该|有|得|地|其|由|为|以|之|所|每|几|個|嗎|什麼|怎麼|這|麼|為|個|誰|還"
)
_JAPANESE = re.compile(
    "どうすれば|どうしたら|どのように|どのくらい|どれくらい|どうやって|どうして|どんな|どこ|どれ|どの|どう|いくつ|いくら|いつ|だれ|なぜ|なに|なん"
    "|何時|何日|何月|何年|何人|何分|何回|何個|何|誰|どなた|ください|くださ|ましょう|でしょう|ました|ません|ますか|ます|ですか|です|でした|である|ており"
    "|ている|ていた|なります|なりました|なる|なった|ければ|れば|たら|いいですか|いい|よい|できます|できる|でき|あります|ありま|ある|いる|います"
    "|される|された|され|れる|られる|したい|して|した|する|しな|しま|すれ|さい|について|とき|場合|こと|もの|ため|から|まで|より|など|だけ|ない|なかった|ても"
    "|でも|には|では|とは|への|この|その|あの|これ|それ|あれ|[はがをにへとでもやのかねよてたなだしすせさられりるいうくけきれんっめ]"
)
_STOPS = {"zh": _CHINESE, "ja": _JAPANESE}


def pairs_for_runs(text: str) -> str:
    """Return the text with Chinese and Japanese cut into overlapping pairs of characters."""
    return RUN.sub(lambda run: f" {' '.join(map(''.join, pairwise(run[0]))) or run[0]} ", text)


def characters(text: str) -> list[str]:
    """Return the Chinese and Japanese characters of a text, in order."""
    return [character for run in RUN.findall(text) for character in run]


def without_function_words(question: str, language: str) -> str:
    """Return a question with a blank for everything that asks, joins or inflects.

    Args:
        question: in Chinese or Japanese.
        language: `zh` or `ja`.
    """
    return _STOPS[language].sub(" ", question)
