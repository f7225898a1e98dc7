"""The templates that travel with polybake, and what renders them."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import TemplateNotFound, UndefinedError

from polybake.base.files.templates import template_environment, templates_folder
from polybake.generation.languages import LANGUAGES


def test_they_are_shipped() -> None:
    """The package has the templates of every language, the card, the report and Triton."""
    assert {*LANGUAGES, "card", "report", "triton"} <= {
        one.name for one in templates_folder().iterdir()
    }


def test_the_first_folder_comes_first(tmp_path: Path) -> None:
    """A user's template wins over the shipped one; files outside of both folders are not read."""
    for name in ("own", "shipped"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "both.txt").write_text(name)
    (tmp_path / "shipped" / "one.txt").write_text("one\n")
    (tmp_path / "outside.txt").write_text("")
    environment = template_environment([tmp_path / "own", tmp_path / "shipped"])
    assert environment.get_template("both.txt").render() == "own"
    assert environment.get_template("one.txt").render() == "one\n"
    with pytest.raises(TemplateNotFound):
        environment.get_template("../outside.txt")


def test_what_is_written(tmp_path: Path) -> None:
    """Lines of statements leave no trace; a value is escaped for HTML where that is asked for."""
    (tmp_path / "t").write_text(
        "{% for one in ones %}\n  {% if one %}\n{{ one }}\n  {% endif %}\n{% endfor %}\n"
    )
    written = template_environment(tmp_path).get_template("t").render(ones=["a", "", "<b>"])
    assert written == "a\n<b>\n"
    page = template_environment(tmp_path, autoescape=True, finalize=str.upper)
    assert page.get_template("t").render(ones=["<b>"]) == "&lt;B&gt;\n"


def test_a_variable_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    """A misspelt variable must never become an empty text in a client."""
    (tmp_path / "t").write_text("{{ missing }}")
    with pytest.raises(UndefinedError, match="missing"):
        template_environment(tmp_path).get_template("t").render()
