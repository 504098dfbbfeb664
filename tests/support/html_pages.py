"""HTML as a browser reads it: its elements, their nesting, and the tables with their texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "path", "circle", "rect", "line"}  # elements without an end here, or that end in themselves


@dataclass
class Element:
    """An element with what is in it; the text of `Element.text` is that of all its parts."""

    name: str
    attributes: dict[str, str]
    parts: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def all(self, *names: str) -> list[Element]:
        """Return the elements of some names inside this one, in order; without names all."""
        found = []
        for part in self.parts:
            if isinstance(part, Element):
                found += [part] if not names or part.name in names else []
                found += part.all(*names)
        return found

    def rows(self) -> list[list[str]]:
        """Return the texts of a table, row by row."""
        return [[cell.text for cell in row.all("th", "td")] for row in self.all("tr")]


class Reader(HTMLParser):
    """Builds the elements; an end that does not fit is an error, which browsers would guess at."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"{tag} has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID, f"<{tag}/> is open for HTML"
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> inside <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)


def read_html(text: str) -> Element:
    """Return the root of all elements; raise unless each ends where it should."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root], f"{reader.open[-1].name} does not end"
    return reader.root


def check_harmless(root: Element) -> None:
    """Raise if a page could run a script, or ask a network for anything."""
    for element in root.all():
        assert element.name not in {"script", "img", "iframe", "object", "embed", "link", "a", "form", "base"}
        assert not [name for name in element.attributes if name.startswith("on") or name in {"src", "href", "action"}]
    styles = "".join(style.text for style in root.all("style"))
    assert "url(" not in styles
    assert "@import" not in styles
