"""The page's files: what is served, to whom, and what the browser is told about them."""

import json
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from api.web.joined import joined
from api.web.page import STATIC
from index.documents.guess import guessed_blocks
from index.documents.store import Metadata, StoredDocument
from index.documents.structure import Structure
from settings import ServeSettings
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
DOCUMENT_PAGE = STATIC.parents[1] / "views" / "templates" / "document.html"
OWN_MODULES = [path for path in STATIC.rglob("*.js") if path.parent.name != "vendor"]


def test_a_browser_is_sent_to_the_page_and_a_program_gets_the_ping() -> None:
    client = client_of(FakeEngine())

    sent = client.get("/", headers=BROWSER, follow_redirects=False)

    assert (sent.status_code, sent.headers["location"], sent.headers["vary"]) == (307, "ui", "Accept")
    assert client.get("/").json() == {"ping": "pong!"}
    assert "<title>Treeline</title>" in client.get("/", headers=BROWSER).text


def test_the_page_may_run_and_load_only_its_own_files() -> None:
    reply = client_of(FakeEngine()).get("/ui")

    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert re.findall(r"<script(?![^>]*src=)", reply.text) == []


def test_monitors_may_ask_for_the_page_s_head_alone() -> None:
    client = client_of(FakeEngine())

    reply = client.head("/ui")

    assert (reply.status_code, reply.content) == (200, b"")
    assert reply.headers["content-length"] == client.get("/ui").headers["content-length"]


def test_every_file_that_the_page_names_is_there() -> None:
    client = client_of(FakeEngine())
    html = client.get("/ui").text
    imported = {
        str((path.parent / name).resolve().relative_to(STATIC))
        for path in OWN_MODULES
        for name in re.findall(r'from "(\./[^"]+)"', path.read_text(encoding="utf-8"))
    }
    named = {address.removeprefix("ui/static/") for address in re.findall(r'"(ui/static/[^"]+)"', html)} | imported

    assert len(named) > 10
    for name in named:
        assert client.get(f"/ui/static/{name}").status_code == 200, name


def test_the_page_s_modules_come_as_one_file_beside_the_libraries_that_they_import() -> None:
    client = client_of(FakeEngine())
    scripts = {name: client.get(f"/ui/static/{name}").text for name in ("app.js", "document.js")}
    html = (STATIC / "index.html").read_text(encoding="utf-8")

    for script in scripts.values():
        assert not re.findall(r'from "\./(?!vendor/)', script)
    imported = set(re.findall(r'from "\./([^"]+)"', scripts["app.js"]))
    assert set(re.findall(r'<link rel="modulepreload" href="ui/static/([^"]+)">', html)) == imported


def test_each_module_runs_before_those_that_import_it(tmp_path: Path) -> None:
    for name, text in {
        "a": 'import { b as other } from "./b.js";\nimport lib from "./vendor/lib.js";\nlib(other);\n',
        "b": 'import { C } from "./c.js";\nexport const b = C + 1;\n',
        "c": "export const C = 1;\nexport async function* d() {}\n",
    }.items():
        (tmp_path / f"{name}.js").write_text(text, encoding="utf-8")

    script = joined(tmp_path / "a.js")

    assert script.index("const C = 1;") < script.index("const b = C + 1;") < script.index("lib(other);")
    assert "return { C, d };" in script
    assert 'import * as $lib from "./vendor/lib.js";' in script


@pytest.mark.parametrize("text", ['import { a } from "./a.js";\n', "export default 1;\n", 'import "./b.js";\n'])
def test_a_module_that_cannot_be_joined_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.js").write_text(text, encoding="utf-8")

    with pytest.raises(ValueError, match="a"):
        joined(tmp_path / "a.js")


def test_every_label_of_a_document_s_page_is_a_text_of_the_page() -> None:
    template = DOCUMENT_PAGE.read_text(encoding="utf-8")
    labels = re.findall(r'data-text="(\w+)"', template)

    assert len(labels) == 6
    for label in labels:
        assert len(re.findall(rf"\b{label}: ", (STATIC / "texts.js").read_text(encoding="utf-8"))) == 2


def test_an_unchanged_file_is_not_sent_twice() -> None:
    client = client_of(FakeEngine())
    first = client.get("/ui/static/app.js")

    again = client.get("/ui/static/app.js", headers={"If-None-Match": first.headers["etag"]})

    assert (first.headers["content-type"], first.headers["cache-control"]) == (
        "text/javascript; charset=utf-8",
        "no-cache",
    )
    assert (again.status_code, again.content) == (304, b"")


def test_the_page_s_files_are_kept_for_good_by_an_address_of_their_version_and_go_out_compressed() -> None:
    client = client_of(FakeEngine())
    (script,) = re.findall(r'src="(ui/static/[^"]+/app.js)"', client.get("/ui").text)
    kept = client.get(f"/{script}")

    assert "immutable" in kept.headers["cache-control"]
    assert kept.headers["content-encoding"] == "gzip"
    assert kept.content == client.get("/ui/static/app.js", headers={"Accept-Encoding": "identity"}).content
    assert int(kept.headers["content-length"]) < len(kept.content) / 2
    assert client.get("/ui/static/0123456789abcdef/app.js").status_code == 404


@pytest.mark.parametrize(
    "path", ["../page.py", "..%2Fpage.py", "%2e%2e/page.py", "absent.js", "", "vendor", "/etc/passwd"]
)
def test_nothing_else_is_served(path: str) -> None:
    assert client_of(FakeEngine()).get(f"/ui/static/{path}").status_code == 404


def test_the_page_is_told_what_there_is_to_ask() -> None:
    config = client_of(FakeEngine()).get("/ui/config").json()

    assert config["default_corpus"] == "default"
    assert (config["synthesizer"], config["can_ingest"], config["preset_questions"]) == ("extractive", False, {})
    assert (config["mode"], config["modes"]) == ("single", ["single", "agent", "auto"])
    assert config["retrieval"]["mode"] == "hybrid"
    assert config["upload"]["max_bytes"] == 512_000_000
    assert {".pdf", ".gz"} <= set(config["upload"]["formats"])


def test_the_page_s_files_stand_at_the_root_as_well_and_take_no_other_address() -> None:
    client = client_of(FakeEngine())

    assert "<title>Treeline</title>" in client.get("/index.html").text
    assert client.get("/vendor/htm-preact.js").content == client.get("/ui/static/vendor/htm-preact.js").content
    assert (client.get("/retrieve").status_code, client.get("/absent.js").status_code) == (405, 404)


@pytest.mark.promise("D02")
def test_a_front_end_of_mosaicrag_finds_its_configuration() -> None:
    own = {"1": {"id": "corpus_datasource", "parameters": {"limit": 5}}}
    plain = client_of(FakeEngine()).get("/app_config").json()
    shown = {"subtitle": "Of wind", "theme": "dark", "about_text": "Who we are", "about_url": "https://library.example"}
    client = client_of(FakeEngine(), serve={"title": "My library", **shown}, pipelines={"default": own})

    assert set(plain) == {
        *("colorTheme", "title", "subTitle", "pipelineConfigAllowed", "logsAllowed", "pipeline"),
        *("aboutLinkText", "aboutLinkURL"),
    }
    assert (plain["title"], plain["pipeline"]) == ("Treeline", {"1": {"id": "corpus_datasource"}})
    for path in ("/app_config", "/ui/config"):
        config = client.get(path).json()
        assert (config["title"], config["pipeline"]) == ("My library", own)
    told = client.get("/app_config").json()
    assert [told[name] for name in ("subTitle", "colorTheme", "aboutLinkText", "aboutLinkURL")] == [*shown.values()]


def test_both_languages_have_the_texts_that_the_modules_ask_for_and_no_others() -> None:
    english, german = texts_of("en"), texts_of("de")
    code = "".join(path.read_text(encoding="utf-8") for path in OWN_MODULES if path.name != "texts.js")
    asked = set(re.findall(r'\bt\("(\w+)"', code))
    template = DOCUMENT_PAGE.read_text(encoding="utf-8")
    # Names that the code computes stand in it as strings or name a view; a passage's level comes from the service.
    named = set(re.findall(r'"(\w+)"', code + template)) | set(re.findall(r"(\w+): [A-Z]", code)) | {"span"}

    assert len(asked) > 50
    assert asked <= english == german
    assert english - named == set()


def texts_of(language: str) -> set[str]:
    """The names of the texts of a language, without those inside a text that is an object."""
    source = (STATIC / "texts.js").read_text(encoding="utf-8")
    body = source.split(f"\n  {language}: {{")[1].split("\n  },")[0]
    flat = re.sub(r"\{[^{}]*\}", "", re.sub(r'"(?:[^"\\]|\\.)*"', "", body))
    return set(re.findall(r"(\w+):", flat))


@pytest.mark.parametrize("questions", [{"default": ["What?"]}, {"default": {"Wind": ["What?"], "Sea": ["Where?"]}}])
def test_preset_questions_are_json_or_the_path_of_a_file(questions: object, tmp_path: Path) -> None:
    file = tmp_path / "presets.json"
    file.write_text(json.dumps(questions))

    for given in (json.dumps(questions), str(file), questions):
        assert ServeSettings.model_validate({"preset_questions": given}).preset_questions == questions


@pytest.mark.parametrize("given", ["{", "nowhere.json", '{"default": "What?"}'])
def test_preset_questions_that_cannot_be_read_are_refused(given: str) -> None:
    with pytest.raises(ValidationError, match=r"write a JSON object|valid list"):
        ServeSettings.model_validate({"preset_questions": given})


def test_a_conversation_begins_with_titles_and_headings_of_one_corpus_or_several() -> None:
    def engine(name: str) -> FakeEngine:
        text = f"# {name}\n\n## Opening hours\n\nAt six.\n\n## Rules of {name}\n\nNone.\n"
        about: Metadata = {"topic": "water"}
        document = StoredDocument(
            "a.md", name, text, structure=Structure(guessed_blocks(text)), version="1", metadata=about
        )
        return FakeEngine(documents=[document], corpus=name)

    client = client_of(engine("lido"), engine("pier"), index={"corpus": "lido"})

    assert client.get("/ui/beginning").json() == {
        "documents": 1,
        "topics": ["water"],
        "titles": ["lido"],
        "headings": ["Opening hours", "Rules of lido"],
    }
    for several in ("lido+pier", "*"):
        both = client.get("/ui/beginning", params={"corpus": several}).json()
        assert (both["documents"], both["titles"]) == (2, ["lido", "pier"])
        assert both["headings"] == ["Opening hours", "Rules of lido", "Rules of pier"]
