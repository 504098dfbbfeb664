"""What a release holds: one version, placeholders in one file, types for users, a small wheel, old files are read."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from deadheat.core import hooks
from support import typed_user
from support.command import ok
from support.paths import ROOT, TESTS

PACKAGE = Path(dh.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MOST_BYTES = 2_100_000  # of the wheel; code in named steps takes more of them than dense code
DOCS = ROOT / "docs"
OLD = TESTS / "support" / "saved-format-2.json"
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def test_the_version_is_said_once() -> None:
    assert PROJECT["project"]["dynamic"] == ["version", "readme"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/deadheat/version.py"
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", cited, re.MULTILINE) == [dh.__version__]
    assert f"version = {{{dh.__version__}}}," in (DOCS / "index.md").read_text(encoding="utf-8")
    assert f"uses: OWNER/deadheat@v{dh.__version__}\n" in (DOCS / "guide" / "gate.md").read_text(encoding="utf-8")


def test_no_address_is_invented() -> None:
    addresses = PROJECT["project"].get("urls", {}).values()
    assert not [address for address in addresses if ".invalid" in address]
    texts = (ROOT / name for name in tracked() if Path(name).suffix in {".md", ".yml", ".cff", ".toml"})
    invented = re.compile(r"deadheat\.invalid|github\.com/[\w-]+/deadheat")
    assert not [path.name for path in texts if path.is_file() and invented.search(path.read_text("utf-8"))]


def test_the_changelog_names_this_version_first() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)", changelog, re.MULTILINE)
    assert versions[0] == dh.__version__
    assert len({*versions}) == len(versions), "towncrier adds an entry, also where there is one"
    assert len(changelog.split("\n## ")[-1].encode()) < 4000, "the first entry stays short"


def test_links_of_the_long_description_lead_to_the_repository() -> None:
    """What a package index shows: by the function of hatch_build.py, without hatchling."""
    program = (ROOT / "hatch_build.py").read_text(encoding="utf-8")
    program = program.replace("from hatchling.metadata.plugin.interface import", "MetadataHookInterface = object  #")
    names: dict[str, Any] = {}
    exec(compile(program, "hatch_build.py", "exec"), names)  # noqa: S102 - our own
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = names["with_addresses"](readme, "https://example.org/deadheat")
    links = re.findall(r"\[[^\]]*\]\(([^)]+)\)", text)
    assert len(links) == len(re.findall(r"\]\(", readme)) > 15
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert [Path(url).name for url in pictures] == ["forest-dark.svg", "forest-light.svg"]
    assert all(url.startswith("https://") for url in links + pictures)
    for kind, urls in (("blob", links), ("raw", pictures)):
        for url in urls:
            place = f"https://example.org/deadheat/{kind}/main/"
            assert (ROOT / url.removeprefix(place)).is_file() or "example.org" not in url


def tracked(*arguments: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout")
    return listed.stdout.splitlines()


def test_a_wheel_is_small_and_has_what_is_no_python() -> None:
    """What hatchling packs: all that is in the package, but for what .gitignore names."""
    names = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in names:
            wheel.write(path, path.relative_to(PACKAGE))
    assert len(held.getvalue()) < MOST_BYTES
    kinds = {
        "py.typed",
        "__init__.pyi",
        "figures.pyi",
        "page.html",
        "page.css",
        "page.js",
        "report.html",
        "schema.json",
    }
    kinds |= {"LICENSE.LLMJudge-benchmark", "qrels.human.txt.gz"}
    kinds |= {f"{command}.json" for command in hooks.find_schemas()}
    assert kinds <= {path.name for path in names}
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["src/deadheat"]}
    assert all((ROOT / path).is_file() for path in PROJECT["project"]["license-files"])
    assert tracked("--cached", "--ignored", "--exclude-standard", "src") == []


def test_an_sdist_has_every_file_but_those_of_the_repository_alone() -> None:
    included = [
        pattern.removeprefix("/") for pattern in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    ]
    packed = ("LICENSE", "pyproject.toml")  # always
    folders = tuple(f"{pattern}/" for pattern in included)
    missing = []
    for name in tracked():
        is_packed = name.startswith(folders) or any(fnmatch(name, pattern) for pattern in (*packed, *included))
        if not is_packed and not name.startswith("."):
            missing.append(name)
    assert missing == []


def test_a_user_with_a_type_checker_gets_what_the_types_say(tmp_path: Path) -> None:
    """mypy --strict reads that file with the others: it would refuse what `assert_type` does not find."""
    assert PROJECT["tool"]["mypy"]["strict"]
    assert "tests" in PROJECT["tool"]["mypy"]["files"]
    assert "Typing :: Typed" in PROJECT["project"]["classifiers"]
    assert len(Path(typed_user.__file__).read_text(encoding="utf-8").splitlines()) >= 60
    assert typed_user.decide(tmp_path).startswith("True: ")
    assert typed_user.went_on(tmp_path) == 1
    assert typed_user.count_ties(typed_user.read(tmp_path)) > 1


def test_what_format_2_saved_is_read() -> None:
    ev = dh.load_evaluation(OLD)
    assert ev.means() == pytest.approx({"RR": 0.875, "nDCG@10": (1 + (1 + 1 / math.log2(3)) / 2) / 2})
    assert ev["RR"].tie_std.tolist() == pytest.approx([0, 0.25])
    again = ev.rescored({"q1": {"b": 1}, "q2": {"b": 1}}, "RR")
    assert again.means() == pytest.approx({"RR": 5 / 8})


def test_a_report_of_a_bug_has_the_versions() -> None:
    assert ok("--version") == f"deadheat {dh.__version__}\n"
    lines = ok("--version", "--verbose").splitlines()
    assert lines[:1] == [f"deadheat {dh.__version__}"]
    assert ok("--verbose", "--version").splitlines() == lines
    names = {line.partition(" ")[0] for line in lines}
    needed = {re.split(r"[>=<; ]", one)[0] for one in PROJECT["project"]["dependencies"]} - {"backports.zstd"}
    assert {"Python", *needed} <= names


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_issue_templates_ask_for_what_there_is(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.stem == "config":
        assert set(form) <= {"blank_issues_enabled", "contact_links"}
        return
    assert {"name", "description", "body"} <= set(form)
    for field in form["body"]:
        assert field["type"] in {"textarea", "input", "dropdown", "markdown", "checkboxes"}
        assert field["attributes"]["label"]
        assert set(field) <= {"type", "id", "attributes", "validations"}
    assert len({field["id"] for field in form["body"]}) == len(form["body"])


def test_what_language_models_are_told_is_what_the_sidebar_has() -> None:
    """If this fails on purpose: python docs/site/llms.py."""
    program = "import llms; print(llms.text(), end='')"
    done = subprocess.run([sys.executable, "-c", program], cwd=DOCS / "site", capture_output=True, check=True)
    text = done.stdout.decode()
    assert text == (DOCS / "llms.txt").read_text(encoding="utf-8")
    paths = re.findall(r"\]\((.+?)\.html\)", text)
    assert len(paths) > 20
    assert all(path.startswith("made/") or (DOCS / f"{path}.md").is_file() for path in paths)
    assert (DOCS / "conf.py").read_text(encoding="utf-8").count('html_extra_path = ["llms.txt"]') == 1


def test_the_integration_server_resolves_deadheat_beside_what_its_users_have() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    (tools,) = re.findall(r"^BESIDE := (.+)$", makefile, re.MULTILINE)
    assert set(tools.split()) >= {
        *("deepeval>=3", "trulens-core>=2", "instructor>=1.10", "crewai>=1", "snowflake-cli>=3.30", "mteb", "ragas"),
        *("langchain", "llama-index", "haystack-ai", "mlflow", "pyserini", "inspect-ai", "arize-phoenix"),
    }
    assert "\nmake test-beside\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_nobody_is_told_to_install_from_an_index_what_is_not_published() -> None:
    """An extra, as in `deadheat[figures]`, is added to the deadheat that is there already."""
    pages = [ROOT / "README.md", DOCS / "llms.txt", *DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb"), *PACKAGE.rglob("*.py")]
    told = re.compile(r"""(?:install|uvx|with the line:?) ['"]?deadheat(?![\w\[])""")
    wrong = [str(path) for path in pages if told.search(path.read_text(encoding="utf-8"))]
    assert wrong == []
    for page in ("README.md", "docs/agents.md", "docs/llms.txt", "docs/index.md"):
        assert "pip install ." in (ROOT / page).read_text(encoding="utf-8")


def test_keys_that_coding_assistants_are_told_are_in_the_schemas() -> None:
    page = (DOCS / "agents.md").read_text(encoding="utf-8")
    for command, table in re.findall(
        r"^\$ deadheat (evaluate|compare) .*?\n```\n\n(\| key .*?)\n\n", page, re.DOTALL | re.MULTILINE
    ):
        properties = json.loads(ok("schema", command))["properties"]
        known = set(re.findall(r'"(\w+)": ', json.dumps(properties)))
        keys = [key for row in re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE) for key in re.findall(r"[\w]+", row)]
        assert len(keys) > 5
        assert {key for key in keys if key.islower()} <= known, command
