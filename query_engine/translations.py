"""What the engine says about an answer that is missing, in the language of the question.

"I don't know." itself stays English, since programs know a declined question by it. English messages are `steps.py`'s.
"""

from query_engine import steps

# The most spoken languages that `index.lexical.language` tells apart.
_FOLLOWING = {
    steps.NO_ANSWER: {
        "ar": "المقاطع التي عُثر عليها لا تجيب عن هذا السؤال.",
        "de": "Die gefundenen Stellen beantworten diese Frage nicht.",
        "es": "Los pasajes encontrados no responden a esta pregunta.",
        "fr": "Les passages trouvés ne répondent pas à cette question.",
        "hi": "मिले हुए अंश इस प्रश्न का उत्तर नहीं देते।",
        "ja": "見つかった文章にはこの質問への答えがありません。",
        "pt": "Os trechos encontrados não respondem a esta pergunta.",
        "ru": "В найденных отрывках нет ответа на этот вопрос.",
        "zh": "找到的段落没有回答这个问题。",
    },
    steps.UNMENTIONED: {
        "ar": "لا يذكر أي من المقاطع التي عُثر عليها {words}.",
        "de": "Keine der gefundenen Stellen erwähnt {words}.",
        "es": "Ninguno de los pasajes encontrados menciona {words}.",
        "fr": "Aucun des passages trouvés ne mentionne {words}.",
        "hi": "मिले हुए किसी भी अंश में {words} का उल्लेख नहीं है।",
        "ja": "見つかった文章のどれにも{words}は出てきません。",
        "pt": "Nenhum dos trechos encontrados menciona {words}.",
        "ru": "Ни в одном из найденных отрывков не упоминается {words}.",
        "zh": "找到的段落都没有提到{words}。",
    },
    steps.NOTHING_FOUND: {
        "ar": "لم يُعثر على أي مقطع يخص هذا السؤال.",
        "de": "Zu dieser Frage wurde keine Stelle gefunden.",
        "es": "No se encontró ningún pasaje sobre esta pregunta.",
        "fr": "Aucun passage n'a été trouvé pour cette question.",
        "hi": "इस प्रश्न के लिए कोई अंश नहीं मिला।",
        "ja": "この質問に関する文章は見つかりませんでした。",
        "pt": "Nenhum trecho foi encontrado para esta pergunta.",
        "ru": "По этому вопросу не найдено ни одного отрывка.",
        "zh": "没有找到与这个问题有关的段落。",
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
_NOT_FOUND = {
    "ar": "لم يُعثر على: {part}",
    "de": "Nicht gefunden: {part}",
    "es": "No se encontró: {part}",
    "fr": "Introuvable : {part}",
    "hi": "नहीं मिला: {part}",
    "ja": "見つかりません: {part}",
    "pt": "Não encontrado: {part}",
    "ru": "Не найдено: {part}",
    "zh": "未找到:{part}",
}


def in_language(message: str, language: str, **values: str) -> str:
    """Return a message in a language; as it is where there is no translation.

    Args:
        message: one of `steps.py`.
        language: ISO 639 code, see `index.lexical.language.question_language`.
        values: what stands in the message's braces.
    """
    if message == steps.PART_NOT_FOUND:
        return _NOT_FOUND.get(language, message).format(**values)
    following = _FOLLOWING.get(message, {}).get(language)
    return (message if following is None else f"{steps.DONT_KNOW} {following}").format(**values)
