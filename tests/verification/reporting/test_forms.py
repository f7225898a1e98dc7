"""The forms of a report: each tells the run, and nothing from outside steers its reader."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from polybake.verification.judging.evidence import Difference
from polybake.verification.report import ClientRun, Report
from polybake.verification.reporting.report_github import MOST, report_github
from polybake.verification.reporting.report_html import report_html
from polybake.verification.reporting.report_json import report_json
from polybake.verification.reporting.report_junit import report_junit
from polybake.verification.reporting.report_markdown import LONGEST, report_markdown
from polybake.verification.reporting.report_table import print_report
from polybake.verification.reporting.summary import headline, nearness, summary, troubles
from polybake.verification.verdict import SESSION, Stage, Status, Verdict
from support.clients.hostile import HOSTILE
from support.samples.sample_report import HOSTILE as MESSAGE
from support.samples.sample_report import sample_report

#: A message that tries to be markup, a command, or a mention.
SCRIPT = "</details><script> @someone #1 | ` `` \" onload='x' <img src=x>\n::add-mask::b 100%0A"


def report_table(report: Report, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_report(report, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


FORMS: dict[str, Callable[[Report], str]] = {
    "table": report_table,
    "json": report_json,
    "junit": lambda report: report_junit(report).decode(),
    "html": report_html,
    "markdown": report_markdown,
    "github": report_github,
}
FOR_PEOPLE = ("table", "html", "markdown", "github")


def only(*languages: str, **fields) -> Report:
    """The sample with only these clients."""
    sample = sample_report(**fields)
    return replace(
        sample,
        runs=tuple(run for run in sample.runs if run.language in languages),
        verdicts=tuple(one for one in sample.verdicts if one.language in languages),
    )


#: What stands in each form of the sample, in this order.
TOLD = {
    "table": (
        "FAIL csharp on cuda, case long, stage embed: fail: bad \\x00 \\x1b",
        "SKIP node on cpu, case plain, stage tokenize and 5 more: missing-toolchain: not on PATH",
        "golden vectors: 6e-05 of 2e-05 (csharp on cuda, case long, stage embed)",
        "between languages on cpu: 1.2e-07 (csharp and ruby, case long, row 3)",
        "12 of 18 stages executed (3 runs x 2 cases x 3 stages), failures: 1",
        "note: a note",
    ),
    "html": (
        "<h1>1 of 3 clients fail</h1>",
        "<h2>Clients</h2>",
        "<h2>What did not pass</h2>",
        "<h2>Worst cases</h2>",
        "long, row 3",
        "(the empty text)",
    ),
    "markdown": (
        "### ❌ polybake verify: 1 of 3 clients fail",
        "| ✅ PASS",
        "2.1e-07 of 1e-05",
        "| ❌ FAIL",
        "| ⚪ SKIP",
        "<details>",
        "- `csharp on cuda`, `case long, stage embed`: fail: `bad \\x00",
        "</details>",
    ),
    "github": (
        "::error title=polybake verify%3A csharp on cuda::case long, stage embed: fail: bad \\x00",
        "::notice title=polybake verify%3A node on cpu::case plain, stage tokenize and 5 more",
    ),
}


@pytest.mark.parametrize("form", TOLD)
def test_the_run_is_told(form: str) -> None:
    text = FORMS[form](sample_report())
    places = [text.find(words) for words in TOLD[form]]
    assert -1 not in places, TOLD[form][places.index(-1)]
    assert places == sorted(places)


def test_json_has_every_verdict() -> None:
    """Verdicts, versions, providers and differences can be read back as they were."""
    found = json.loads(report_json(sample_report()))
    assert (found["format"], found["exit_code"], found["executed"]) == (1, 1, 12)
    assert len(found["verdicts"]) == 19
    assert found["verdicts"][11] == {
        "language": "csharp",
        "device": "cuda",
        "case": "long",
        "stage": "embed",
        "status": "fail",
        "message": MESSAGE,
        "difference": 3e-5,
        "seconds": 0.5,
        "asked": True,
    }
    assert found["runs"][1]["provider"]["active"] == "CUDAExecutionProvider"
    assert found["runs"][2]["versions"] is None
    assert found["language_differences"][0]["languages"] == ["csharp", "ruby"]


def test_junit_has_a_test_for_each_stage() -> None:
    """Names, times, versions and the failure's message can be read back."""
    root = ET.fromstring(report_junit(sample_report()))  # noqa: S314 - made here
    counts = ("tests", "failures", "errors", "skipped")
    assert ["".join(suite.get(key, "") for key in counts) for suite in root] == [
        "7000",
        "6100",
        "6006",
    ]
    ruby, csharp, _ = root
    first, *_, last = ruby.findall("testcase")
    assert (first.get("classname"), first.get("name")) == ("polybake.ruby.cpu", "plain.tokenize")
    assert (first.get("time"), last.get("name")) == ("0.250", "session.self_check")
    properties = {one.get("name"): one.get("value") for one in csharp.iter("property")}
    assert properties["runtime_version"] == "1.31.1"
    assert properties["provider"] == "CUDAExecutionProvider"
    (failure,) = csharp.iter("failure")
    assert failure.get("message") == "bad \\x00 \\x1b[31m ]]> [bold] <b> & \" ' \\ud800 \\n end"


@pytest.mark.parametrize("form", FOR_PEOPLE)
def test_what_is_beside_the_verdict_is_told(form: str) -> None:
    """What is missing is told; a pass lists no failure."""
    show = FORMS[form]
    assert "no cuda" in show(only("ruby", missing=("no cuda",)))
    assert re.search("(?i)nothing was verified", show(sample_report(runs=(), verdicts=())))
    passed = show(only("ruby"))
    assert not re.search("(?m)What did not pass|^::|FAIL", passed)
    assert form == "html" or "<details>" not in passed


class Page(HTMLParser):
    """Tags with the names of their attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[tuple[str, ...]] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add((tag, *(name for name, _ in attrs)))
        if tag not in {"meta", "br", "rect", "line"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"rect", "line"}:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile(text: str) -> Report:
    """The sample with a text wherever something comes from outside."""
    sample = sample_report()
    run = sample.runs[0]
    assert run.versions
    versions = run.versions.model_copy(update={"runtime_version": text})
    return replace(
        sample,
        model=text,
        runs=(replace(run, versions=versions), ClientRun(text, "cpu", None, None, 0.0)),
        verdicts=(
            Verdict("ruby", "cpu", text, Stage.EMBED, Status.FAIL, text),
            Verdict(text, "cpu", "one", Stage.EMBED, Status.CRASH, "ended"),
        ),
        missing=(text,),
        notes=(text,),
    )


@pytest.mark.parametrize("text", [MESSAGE, HOSTILE, SCRIPT], ids=["message", "hostile", "script"])
def test_what_comes_from_outside_is_text(text: str) -> None:
    """It makes no element, attribute, mention, cell or command, and steers no terminal."""
    plain, told = (
        {form: show(hostile(one)) for form, show in FORMS.items()} for one in ("plain", text)
    )
    for form in FOR_PEOPLE:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", told[form]), form
    assert Page(told["html"]).tags == Page(plain["html"]).tags
    outside_code = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", told["markdown"])
    assert not re.search(r"@someone|#1|<script|<!--|\$\{1\}", outside_code)
    rows = [line for line in told["markdown"].splitlines() if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [7, 7, 7]
    lines = told["github"].splitlines()
    assert len(lines) == len(plain["github"].splitlines())
    assert all(re.match("::(error|warning|notice) ", line) for line in lines)
    assert not re.search("%0A|%0D", told["github"].replace("%25", ""))
    ET.fromstring(told["junit"])  # noqa: S314 - made here
    assert json.loads(told["json"])["model"] == text
    assert told["json"].isascii()


def test_the_page_asks_for_no_other_file() -> None:
    """There is no script, link, image or import, and all is closed, whatever is missing."""
    for report in (sample_report(), sample_report(runs=()), sample_report(verdicts=())):
        page = report_html(report)
        assert Page(page).open == []
        assert not re.search(r"<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:", page)


def test_annotations_stand_at_the_given_file() -> None:
    text = report_github(sample_report(), Path("ci/poly,bake:100%.toml"))
    assert [*re.findall("file=([^,:]*)", text)] == ["ci/poly%2Cbake%3A100%25.toml"] * 2


def test_annotations_are_few() -> None:
    """GitHub drops all beyond ten of a kind: a client has one, and what is left is counted."""
    fails = tuple(
        Verdict("ruby", "cpu", "one", Stage.EMBED, Status.FAIL, str(number)) for number in range(30)
    )
    (line,) = report_github(sample_report(verdicts=fails)).splitlines()
    assert line.endswith("case one, stage embed: fail: 0; 29 other stages did not pass either")
    missing = tuple(f"{number} is missing" for number in range(30))
    lines = report_github(only("ruby", missing=missing)).splitlines()
    assert len(lines) == MOST
    assert lines[-1].endswith(f"::{30 - MOST + 1} more are in the log")


def test_a_comment_has_a_length() -> None:
    """The number left out is told, and every folded part is closed."""
    verdicts = tuple(
        Verdict("ruby", "cpu", f"{case}", Stage.EMBED, Status.FAIL, f"{case} " + "\x00" * 900)
        for case in range(200)
    )
    text = report_markdown(sample_report(verdicts=verdicts))
    assert 0.9 * LONGEST < len(text) <= LONGEST
    shown = len(re.findall("^- `ruby on cpu`, ", text, re.MULTILINE))
    assert f"- {200 - shown} more are left out" in text
    assert text.endswith("\n</details>\n")
    notes = tuple(f"note {number} " + "x" * 500 for number in range(500))
    text = report_markdown(sample_report(notes=notes))
    assert len(text) <= LONGEST
    assert text.endswith("The rest is left out: a comment has no room for it.\n")


@pytest.mark.parametrize("width", [80, 120])
def test_a_table_cuts_nothing_off(width: int) -> None:
    """Each client has one line, with words, counts and differences whole, and one for versions."""
    sample = sample_report()
    address = "http://localhost:8103/v1/embeddings"
    sample = replace(
        sample,
        runs=tuple(
            replace(run, language=address) if run.language == "ruby" else run for run in sample.runs
        ),
        verdicts=tuple(
            replace(one, language=address) if one.language == "ruby" else one
            for one in sample.verdicts
        ),
    )
    lines = [line.split() for line in report_table(sample, width).splitlines()]
    assert lines[0] == ["client", "device", "stages", "largest", "difference", "seconds"]
    assert ["FAIL", "csharp", "cuda", "5/6", "6e-05", "of", "2e-05", "123.4"] in lines
    assert ["SKIP", "node", "cpu", "0/6", "0.0"] in lines
    (service,) = (line for line in lines if line[:1] == ["PASS"])
    assert [*service[2:]] == ["cpu", "6/6", "2.1e-07", "of", "1e-05", "123.4"]
    rest = next(line for line in lines[lines.index(service) + 1 :] if line)
    assert service[1] + (rest[0] if len(rest) == 1 else "") == address
    versions = "csharp on cuda: version 10.0.101, runtime 1.31.1, tokenizer 0.23.3, "
    assert f"{versions}CUDAExecutionProvider".split() in lines


def test_every_form_says_the_same_largest_difference() -> None:
    """Also where a list of many texts shows it, not a case."""
    ruby = only("ruby")
    largest = (*ruby.runs[0].differences, Difference(Stage.BATCHES, 1e-5, 4.2e-6, SESSION))
    report = replace(ruby, runs=(replace(ruby.runs[0], differences=largest),))
    for form in ("table", "html", "markdown"):
        assert "4.2e-06 of 1e-05" in FORMS[form](report), form
        assert "2.1e-07" not in FORMS[form](report), form
    assert "(ruby on cpu, case session, stage batches)" in report_table(report)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (sample_report(), ("FAIL", "1 of 3 clients fail")),
        (only("csharp"), ("FAIL", "The client fails")),
        (only("ruby"), ("PASS", "The client gives the golden vectors")),
        (only("ruby", "node"), ("PASS", "1 of 2 clients pass, 1 skipped")),
        (only("node"), ("FAIL", "Nothing was verified: no client ran a single case")),
        (only("ruby", missing=("cuda",)), ("FAIL", "Something that is required is missing")),
    ],
)
def test_the_headline_is_the_exit_code_in_words(report: Report, said: tuple[str, str]) -> None:
    """No report that fails begins with PASS, nor the other way round."""
    assert headline(report) == said
    assert (said[0] == "PASS") == (report.exit_code() == 0)


def test_a_product_is_told_where_it_is_right() -> None:
    """Of a client that streams beside one that does not, the sum alone is."""
    sample = sample_report()
    stream = Verdict("ruby", "cpu", SESSION, Stage.STREAM, Status.PASS)
    told = summary(replace(sample, verdicts=(*sample.verdicts, stream)))
    assert told == "13 of 19 stages executed, failures: 1"


def test_the_words_that_forms_share() -> None:
    """Equal troubles share a line; a difference has its limit."""
    found = [(one.first.status, one.place) for one in troubles(sample_report().verdicts)]
    assert found == [
        (Status.FAIL, "case long, stage embed"),
        (Status.MISSING_TOOLCHAIN, "case plain, stage tokenize and 5 more"),
    ]
    ruby, csharp, _ = sample_report().runs
    assert (nearness(ruby), nearness(csharp)) == ("2.1e-07 of 1e-05", "6e-05 of 2e-05")
    (one,) = ruby.differences
    equal, steps = replace(one, largest=0.0), replace(one, largest=1.0, limit=None)
    assert nearness(replace(ruby, differences=(equal,))) == "0 of 1e-05"
    assert nearness(replace(ruby, differences=(steps,))) == "1 step"
    assert nearness(replace(ruby, differences=())) == ""
