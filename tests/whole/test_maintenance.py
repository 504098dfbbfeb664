"""What a maintainer relies on: the same version everywhere, and files that their readers can parse."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version

import pytest

import deadheat
from support.paths import ROOT


def project() -> dict[str, object]:
    found: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def test_the_version_to_cite_is_the_version() -> None:
    (cited,) = re.findall(r"(?m)^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited == deadheat.__version__


def test_what_is_installed_has_the_version_of_the_package() -> None:
    assert project()["dynamic"] == ["version", "readme"]
    assert version("deadheat") == deadheat.__version__


def test_the_workflow_runs_every_python_that_is_declared() -> None:
    text = (ROOT / ".github/workflows/test.yml").read_text("utf-8")
    (listed,) = re.findall(r"python: \[(.*)\]", text)
    classifiers = project()["classifiers"]
    assert isinstance(classifiers, list)
    declared = [name.rpartition(" ")[2] for name in classifiers if re.search(r":: 3\.\d+$", name)]
    assert re.findall(r'"(.*?)"', listed) == declared


def test_the_workflow_checks_what_make_checks() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    recipes = re.findall(r"^(?:lint|test-all):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    programs = set(re.findall(r"\$\(BIN\)/([\w-]+)", "".join(recipes))) - {"pytest"}
    assert programs == {"ruff", "lint-imports", "mypy"}
    text = (ROOT / ".github/workflows/test.yml").read_text("utf-8")
    (line,) = re.findall(r"- run: (ruff .+)", text)
    assert programs == {command.split()[0] for command in line.split(" && ")}


@pytest.mark.parametrize("path", [".github/workflows/test.yml", "CITATION.cff", ".pre-commit-config.yaml"])
def test_files_in_yaml_can_be_read(path: str) -> None:
    yaml = pytest.importorskip("yaml")
    assert isinstance(yaml.safe_load((ROOT / path).read_text("utf-8")), dict)


OTHER_NAMES = re.compile(
    r"trec_eval's (rule|value|tie-break)|by doc id|\bby rule\b|its rule|black tick|as trec_eval (does|breaks)"
    r"|rule of trec_eval|the rule (gives|is off|changes)",
    re.IGNORECASE,
)


def test_ties_by_document_id_have_one_name() -> None:
    """By document id, as trec_eval: in options, tables, figures, pages and docstrings."""
    paths = [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "src").rglob("*.js"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "README.md",
    ]
    found = {
        str(path.relative_to(ROOT)): match.group()
        for path in paths
        if "made" not in path.parts
        for match in OTHER_NAMES.finditer(path.read_text("utf-8"))
        if not match.string[match.end() :].startswith((" with", ". `nDCG(gain"))  # of other conventions
    }
    assert not found


def test_one_word_for_one_thing() -> None:
    """No page has a word that the glossary refuses, but in code."""
    rows = re.findall(r"^\| (.*) \|$", (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE)[2:]
    refused = [word for row in rows for word in row.rsplit("| ", 1)[1].split(", ")]
    assert len(refused) > 20
    words = re.compile(rf"\b({'|'.join(map(re.escape, refused))})s?\b", re.IGNORECASE)
    pages = [ROOT / "README.md", *(path for path in (ROOT / "docs").rglob("*.md") if "made" not in path.parts)]
    for path in pages:
        text = re.sub(r"^```.*?^```|`[^`]*`", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        assert path.name == "glossary.md" or not words.findall(text), path
