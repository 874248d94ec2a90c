"""What of Markdown is comments and commands."""

import pytest

from ingestion.reading.markdown_source import visible

CASES = {
    "a comment": ("Rain <!-- soon? --> falls.", "Rain falls."),
    "a comment of lines": ("Rain\n\n<!-- to do:\n\n- snow\n-->\n\nfalls.", "Rain\n\n\n\nfalls."),
    "a comment with code": ("a\n<!--\n```\n-->\nb <!-- c -->", "a\n\nb "),
    "a comment without end": ("Rain <!-- falls.\n\nSnow <!-- too.", "Rain <!-- falls.\n\nSnow <!-- too."),
    "a remark": ("Rain %%ask Jo%% falls. %% later %%", "Rain falls. "),
    "remarks on lines": ("Rain\n%%\n\nask Jo\n\n%%\nfalls.", "Rain\nfalls."),
    "remarks to the end": ("Rain\n%%\nask Jo\n%%", "Rain\n"),
    "percentages": ("Between 5%% and 7%% of 100%%.", "Between 5%% and 7%% of 100%%."),
    "an open remark": ("%% Section\nx = 1", "%% Section\nx = 1"),
    "tags": ("{% if sunny %}\nBathe.\n{% else %}\nRead.\n{%- endif -%}\n", "\nBathe.\n\nRead.\n\n"),
    "a tag in a link": ("See [rain]({% link rain.md %}).", "See [rain]()."),
    "a comment of Liquid": ("Rain{% comment %} no {{ x }}\n\nsun {% endcomment %} falls.", "Rain falls."),
    "raw": ("{% raw %}Write {{ site.title }} there.{% endraw %} {{ site.title }}", "Write {{ site.title }} there. "),
    "values of a site": ("![Map]({{ site.baseurl }}/map.png) by {{ page.author | upcase }}", "![Map](/map.png) by "),
    "computed": ("[Map]({{ '/map' | relative_url }})", "[Map]()"),
    "Hugo": ("{{< youtube x1 >}}\n{{% notice tip %}}Rest.{{% /notice %}}", "\nRest."),
    "what a text is about": ("Dear {{name}}, {{ .Values.port }} {{", "Dear {{name}}, {{ .Values.port }} {{"),
    "escaped": (r"Write \{% if %} and \<!-- x -->.", r"Write \{% if %} and \<!-- x -->."),
    "code in a line": ("`<!-- a -->` and ``{% b ` %}`` <!-- c -->", "`<!-- a -->` and ``{% b ` %}`` "),
    "code": ("```html\n<!-- a -->\n##b\n```\n<!-- c -->d", "```html\n<!-- a -->\n##b\n```\nd"),
    "code in a quotation": ("> ~~~~\n> {% a %}\n> ~~~\n> {{ site.b }}\n> ~~~~\n{% c %}",
                            "> ~~~~\n> {% a %}\n> ~~~\n> {{ site.b }}\n> ~~~~\n"),
    "code without end": ("```\n<!-- a -->", "```\n<!-- a -->"),
    "indented code": ("Like so:\n\n    <!-- a -->\n    ##b\n", "Like so:\n\n    <!-- a -->\n    ##b\n"),
    "a lone backtick": ("5` long\n```\n{% a %}\n```", "5` long\n```\n{% a %}\n```"),
    "headings": ("##Rain\n###6.5 Snow\n  ##Über\n", "## Rain\n### 6.5 Snow\n  ## Über\n"),
    "no headings": ("#rain #12\n## Rain\n##\n##-\na ##b\n#######x", "#rain #12\n## Rain\n##\n##-\na ##b\n#######x"),
}  # fmt: skip


@pytest.mark.fault("D18")
@pytest.mark.parametrize(("source", "shown"), CASES.values(), ids=CASES)
def test_comments_and_commands_are_no_text(source: str, shown: str) -> None:
    assert visible(source) == shown
