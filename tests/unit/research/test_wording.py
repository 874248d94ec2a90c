from research.wording import is_same_query, was_asked


def test_queries_are_the_same_but_for_case_and_punctuation() -> None:
    assert is_same_query("Rotor limit?", "rotor  LIMIT")
    assert not is_same_query("rotor limit", "limit rotor")
    assert was_asked("wind!", ["water", "Wind"])
