"""A language model that grades documents, and the file in which its answers are kept."""

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event
from typing import Literal

from deadheat.core.checks import as_count, as_number, as_positive
from deadheat.core.errors import DataError, DeadheatWarning, ParameterError
from deadheat.core.phases import phase
from deadheat.core.wording import format_count
from deadheat.plugins.bench.collection import hash_of
from deadheat.plugins.bench.retrievers.embedding import default_folder
from deadheat.plugins.bench.retrievers.endpoint import Chat, Endpoint, NoAnswerError

PROMPT = """How well does the document answer the query?
0: not at all, 1: it is about the same, but does not answer it, 2: in part, 3: completely.
Answer with the number alone.

Query: {query}
Document: {document}"""
SCALE = (0, 3)  # of this prompt
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds
LONGEST_LINE = 8 << 20  # bytes of a kept answer: one of 1 MB has 6 MB as JSON
NAME = re.compile("[0-9a-f]{64}")  # of a pair of query and document


class LLM:
    """A language model that grades documents, behind any endpoint that speaks OpenAI's protocol.

    Answers are kept in a file by the content of prompt, query and document, as they come: after an interruption, what
    was answered is not asked again. Redirects are not followed, an answer has at most 1 MB, and key, password and what
    the query of the URL holds are neither printed nor kept. Proxies are those of the environment (``https_proxy``,
    ``no_proxy``).

    Parameters
    ----------
    endpoint : str
        Such as "http://localhost:8000/v1"; /chat/completions is added. A query ("?api-version=1") stays behind it, and
        a user with password ("http://user:password@host/v1") is sent in place of a key.
    model : str
    api_key_env : str, default "OPENAI_API_KEY"
        The environment variable that holds the key, if the endpoint wants one. Whitespace around it does not count.
    prompt : str, optional
        With {query} and {document}; by default grades from 0 to 3 are asked for.
    scale : (float, float), optional
        The lowest and the highest grade; others are none. By default (0, 3) with the default prompt; with another one,
        every number is a grade.
    parallel : int, default 8
        Calls at a time.
    attempts : int, default 6
        Calls for one document while the server is busy; waits double from half a second, or are as it asks, but at most
        a minute.
    timeout : float, default 60
        Seconds of a call, from the connection to the last byte of the answer.
    cache : path or False, optional
        Folder of kept answers; by default the user's cache folder (or ``$DEADHEAT_CACHE``). False keeps none.
    name : str, optional
        By default that of the model.

    Raises
    ------
    ParameterError
        The endpoint is no URL, the prompt lacks a place, or a number is out of its range.
    """

    def __init__(
        self,
        endpoint: str,
        model: str,
        *,
        api_key_env: str = "OPENAI_API_KEY",
        prompt: str = PROMPT,
        scale: tuple[float, float] | None = None,
        parallel: int = 8,
        attempts: int = 6,
        timeout: float = 60.0,
        cache: str | Path | Literal[False] | None = None,
        name: str | None = None,
    ) -> None:
        self._server = Endpoint(endpoint, api_key_env, as_positive("timeout", timeout))
        if lacking := [one for one in ("{query}", "{document}") if one not in prompt]:
            raise ParameterError(f"the prompt has no {lacking[0]}", given=prompt, argument="prompt")
        self.endpoint, self.model, self.prompt = self._server.name, model, prompt
        self.api_key_env, self.timeout, self.name = api_key_env, timeout, name or model
        self.parallel, self.attempts = as_count("parallel", parallel), as_count("attempts", attempts)
        if scale is None and prompt == PROMPT:
            scale = SCALE
        self.scale = None if scale is None else _checked_scale(scale)
        asked = {"endpoint": self.endpoint, "model": model, "prompt": prompt}
        self.key = {**asked, "scale": self.scale}
        folder = default_folder() if cache is None else cache
        self._kept = KeptAnswers(Path(folder) / "grades" / f"{hash_of(asked)[:32]}.jsonl") if folder else None

    def __repr__(self) -> str:
        return f"LLM({self.endpoint!r}, {self.model!r})"

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Return the answer for each pair of query and document.

        Raises
        ------
        DataError
            The endpoint refuses the key, the model or the prompt; or it cannot be reached, stays busy or redirects.
        MissingDependencyError
            The package openai is not installed.
        """
        names = [name_of(*pair) for pair in pairs]
        answers: dict[str, str] = {}
        if self._kept is not None:
            answers = self._kept.read()
        todo = {name: pair for name, pair in zip(names, pairs, strict=True) if name not in answers}
        if todo:
            self._ask_all(todo, answers)
        return [answers[name] for name in names]

    def _ask_all(self, todo: dict[str, tuple[str, str]], answers: dict[str, str]) -> None:
        """Ask for each pair, and add the answers by the names of the pairs."""
        pool, is_over = ThreadPoolExecutor(self.parallel), Event()

        def answer(chat: Chat, name: str, pair: tuple[str, str]) -> None:
            answers[name] = self._ask(chat, pair, is_over)
            if self._kept is not None:
                self._kept.add(name, answers[name])

        with self._server.open() as chat:
            try:
                with phase(f"asking {self.name}", len(todo)) as advance:
                    futures = [pool.submit(answer, chat, name, pair) for name, pair in todo.items()]
                    for future in as_completed(futures):
                        future.result()
                        advance(1)
            finally:
                is_over.set()  # who waits for a busy server waits no longer
                pool.shutdown(cancel_futures=True)

    def _ask(self, chat: Chat, pair: tuple[str, str], is_over: Event) -> str:
        """Ask until there is an answer, as often as is allowed."""
        parts = {"{query}": pair[0], "{document}": pair[1]}
        text = re.sub(r"\{query\}|\{document\}", lambda found: parts[found[0]], self.prompt)
        wait, problem = 0.0, "it was interrupted"
        for _ in range(self.attempts):
            if is_over.wait(min(wait, LONGEST_WAIT)):
                break
            try:
                return chat.ask(self.model, text)
            except NoAnswerError as error:
                problem = f"{error}"
                wait = 2 * wait or FIRST_WAIT
                if error.wait is not None:
                    wait = error.wait
        raise DataError(
            f"no answer from {self.endpoint} in {format_count(self.attempts, 'attempt')}",
            found=problem,
            hint="what was answered is kept: the same call goes on from there",
        )


def _checked_scale(scale: object) -> tuple[float, float]:
    allowed = "a lowest and a highest grade, such as (0, 3)"
    if not isinstance(scale, tuple | list) or len(scale) != 2:
        raise ParameterError(argument="scale", given=scale, allowed=allowed)
    low, high = as_number("scale", scale[0]), as_number("scale", scale[1])
    if not low < high:
        raise ParameterError(argument="scale", given=scale, allowed=allowed)
    return low, high


def name_of(query: str, document: str) -> str:
    """Return the hash of a pair of texts, which its answer is kept by."""
    return hashlib.sha256(f"{query}\0{document}".encode("utf-8", "surrogatepass")).hexdigest()


class KeptAnswers:
    """A file of answers, a line of JSON each: the hash of query and document, and the answer.

    Parameters
    ----------
    path : pathlib.Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, str]:
        """Return the answers by their hashes; warn of lines that hold none."""
        answers: dict[str, str] = {}
        n_damaged = 0
        for line in self._lines():
            entry = _read_entry(line)
            if entry is None:
                n_damaged += 1
            else:
                answers[entry[0]] = entry[1]
        if n_damaged:
            warnings.warn(
                f"{self.path}: {format_count(n_damaged, 'line')} beside {format_count(len(answers), 'kept answer')}"
                " cannot be read: what they may have held is asked again",
                DeadheatWarning,
                stacklevel=4,
            )
        return answers

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines that are not empty; of one that is too long a part, which is none."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            is_rest = False
            while line := file.readline(LONGEST_LINE):
                if line.strip() and not is_rest:
                    yield line
                is_rest = not line.endswith(b"\n")

    def add(self, name: str, answer: str) -> None:
        """Append an answer in one write: a line that was cut before ends here."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps([name, answer])}\n")


def _read_entry(line: bytes) -> tuple[str, str] | None:
    """Return the hash and the answer of a line, or None."""
    try:
        entry = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, list) or len(entry) != 2:
        return None
    name, answer = entry
    if not isinstance(name, str) or not isinstance(answer, str) or not NAME.fullmatch(name):
        return None
    return name, answer
