"""What of Markdown is comments, commands and HTML."""

import re
import time

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
HTML = {
    "a table": ("Sizes:\n<table>\n  <tr><th>Hut</th><th>Beds</th></tr>\n  <tr>\n    <td>A | B</td>\n"
                "    <td>12<br>bunks</td>\n  </tr>\n</table>\nEnd",
                "Sizes:\n\n| Hut | Beds |\n| --- | --- |\n| A \\| B | 12 bunks |\n\nEnd"),
    "no names": ("<table><tr><th></th><th></th></tr><tr><td>a</td><td>b</td></tr></table>",
                 "|  |  |\n| --- | --- |\n| a | b |"),
    "spans": ("<table><tr><td rowspan=2>a<td>b<tr><td>c<tr><td colspan='2'>d</table>",
              "|  |  |\n| --- | --- |\n| a | b |\n| a | c |\n| d |  |"),
    "a table for the layout": ("<table><tr><td>\n\n**Rain**\n</td></tr></table>", "**Rain**"),
    "what cells hold": ('<table><tr><td><a href="u">x</a><td>{% t %}<code>y</code><ul><li>z</ul><tr><td><td>w</table>',
                        "|  |  |\n| --- | --- |\n| [x](u) | `y` - z |\n|  | w |"),
    "headings": ('<h1>\n  <img src="l.png" alt="Logo"><br>\n</h1>\n\n<h2>Rain &amp; <em>snow</em></h2>',
                 "![Logo](l.png)\n\n## Rain &amp; snow"),
    "blocks": ('<div class="x">\n    <p>One.</p><p>Two\n    lines.</p>\n</div>\n\nThree.',
               "One.\n\nTwo\nlines.\n\nThree."),
    "lists": ("<ul>\n  <li>a</li>\n  <li>\n    b\n  </li>\n</ul>", "- a\n- b"),
    "details": ("<details>\n<summary>More</summary>\n\n- a\n\n</details>\n", "More\n\n- a"),
    "links and images": ('See <a href="u"><b>here</b></a> <a name=z></a>and <img src=i alt="a b"/><img src="j">.',
                         "See [here](u) and ![a b](i)."),
    "in lines": ('<mark style="a">**No**</mark> <kbd>Ctrl</kbd>+<kbd>C</kbd>, H<sub>2</sub>O', "**No** Ctrl+C, H2O"),
    "line ends": ("a<br>b<br/><br>\nc\\\nd\n| e<br>f | g |\nrun \\\n x", "a\nb\nc\nd\n| e f | g |\nrun \\\n x"),
    "characters": ("5&nbsp;km &ndash; &#x20;x &lt;b&gt; &amp; &unknown; AT&T",
                   "5\xa0km –  x &lt;b&gt; &amp; &unknown; AT&T"),
    "code": ("`<b>` \\<b>\n\n```\n<b> &nbsp;\n```\n<pre><code>if a &lt; b:\n    <b>c</b>\n</code></pre>",
             "`<b>` \\<b>\n\n```\n<b> &nbsp;\n```\n\n```\nif a < b:\n    c\n```"),
    "what shows nothing": ("a<style>p {}</style>\n<script>\n\nx()\n</script>b", "a\nb"),
    "what is not HTML": ("<https://a.b> List<String> <file name>", "<https://a.b> List<String> <file name>"),
    "commands": ("import { A,\n  B } from '@x/y';\nimport './z.css';\n\nRain {/* soon? */} falls.", "Rain falls."),
    "not commands": ("import duties from 2020\n{/* open", "import duties from 2020\n{/* open"),
    "containers": (":::note\n\nRain.\n\n:::\n::: tip Sun & sea\n- a\n:::\n:::code-group\n:::warning[Wind]{.x}\nb\n:::",
                   "Note: Rain.\n\nSun & sea:\n- a\n\nWind: b"),
    "components": ('<Tabs syncKey="os">\n    <TabItem label="macOS">\n\nRun.\n\n  </TabItem>\n</Tabs>\n'
                   '<Cmd\n  npm="npm i x" y={{a: 1}}\n/>', "macOS\n\nRun.\n\nnpm: npm i x"),
    "not components": ("<VirtualHost *:80>\nList <String>", "<VirtualHost *:80>\nList <String>"),
    "not closed": ("<table><tr><td>a\n\n<pre>b\n\n<a href='u'>c", "<table>\n\na\n\n<pre>b\n\nc"),
}  # fmt: skip


@pytest.mark.fault("D18")
@pytest.mark.parametrize(("source", "shown"), HTML.values(), ids=HTML)
def test_html_is_written_as_markdown(source: str, shown: str) -> None:
    assert re.sub(r"\n{2,}", "\n\n", visible(source)).strip() == shown


@pytest.mark.fault("D4")
@pytest.mark.parametrize(
    "piece",
    [
        "<table>",
        "<table></table>",
        "<a href='",
        "<a href=''>",
        "<h1>",
        "<div>\n",
        "<br>",
        "<li>",
        "&a",
        "<pre>",
        "\\\n",
    ],
)
def test_repeated_html_takes_no_more_than_seconds(piece: str) -> None:
    started = time.process_time()

    visible(piece * 20_000)

    assert time.process_time() - started < 5


@pytest.mark.fault("D18")
@pytest.mark.parametrize(("source", "shown"), CASES.values(), ids=CASES)
def test_comments_and_commands_are_no_text(source: str, shown: str) -> None:
    assert visible(source) == shown
