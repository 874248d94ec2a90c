"""What follows "I don't know." in the language of the question.

Flow: `synthesis/fallback_chain.py` closes an answer that is none -> **here**. The first sentence stays English, since
programs know a declined question by it. English messages are `steps.py`'s.
"""

from query_engine import steps

FIRST_SENTENCE = "I don't know."
# The most spoken languages that `index.lexical.language` tells apart.
_FOLLOWING = {
    steps.NO_ANSWER: {
        "ar": "الوثائق لا تجيب عن هذا السؤال.",
        "de": "Die Dokumente beantworten diese Frage nicht.",
        "es": "Los documentos no responden a esta pregunta.",
        "fr": "Les documents ne répondent pas à cette question.",
        "hi": "दस्तावेज़ इस प्रश्न का उत्तर नहीं देते।",
        "ja": "文書にはこの質問への答えがありません。",
        "pt": "Os documentos não respondem a esta pergunta.",
        "ru": "В документах нет ответа на этот вопрос.",
        "zh": "文档没有回答这个问题。",
    },
    steps.TOO_LATE: {
        "ar": "انتهى الوقت المخصص لهذا السؤال. يرجى المحاولة لاحقًا.",
        "de": "Die Zeit für diese Frage war um. Bitte fragen Sie später noch einmal.",
        "es": "Se acabó el tiempo para esta pregunta. Vuelva a preguntar más tarde.",
        "fr": "Le temps prévu pour cette question est écoulé. Reposez-la plus tard.",
        "hi": "इस प्रश्न का समय समाप्त हो गया। कृपया बाद में फिर पूछें।",
        "ja": "この質問の制限時間が過ぎました。後でもう一度お試しください。",
        "pt": "O tempo para esta pergunta acabou. Pergunte de novo mais tarde.",
        "ru": "Время на этот вопрос истекло. Спросите позже ещё раз.",
        "zh": "这个问题的时间已到,请稍后再问。",
    },
}


def in_language(message: str, language: str) -> str:
    """Return a message that declines a question, in a language; as it is where there is no translation.

    Args:
        message: one of `steps.py`.
        language: ISO 639 code, see `index.lexical.language.question_language`.
    """
    following = _FOLLOWING.get(message, {}).get(language)
    return message if following is None else f"{FIRST_SENTENCE} {following}"
