"""Grades of language models: a reader of what they answer, and one behind any endpoint of OpenAI's protocol."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from http.client import HTTPException
from pathlib import Path
from threading import Event
from typing import Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from deadheat.arguments import as_count
from deadheat.benchmark.retrievers.embedding import default_folder
from deadheat.errors import DataError, ParameterError
from deadheat.io.phases import phase
from deadheat.wording import Plain, counted, shown

PROMPT = """How well does the document answer the query?
0: not at all, 1: it is about the same, but does not answer it, 2: in part, 3: completely.
Answer with the number alone.

Query: {query}
Document: {document}"""
MAY_PASS = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # answers of a server that is busy, or broken for a moment
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds


class LLM:
    """A language model that grades documents, behind any endpoint that speaks OpenAI's protocol.

    Answers are kept in a file by the content of prompt, query and document, as they come: after an interruption, what
    was answered is not asked again.

    Parameters
    ----------
    endpoint : str
        Such as "http://localhost:8000/v1"; /chat/completions is added.
    model : str
    api_key_env : str, default "OPENAI_API_KEY"
        The environment variable that holds the key, if the endpoint wants one.
    prompt : str, optional
        With {query} and {document}; by default grades from 0 to 3 are asked for.
    parallel : int, default 8
        Calls at a time.
    attempts : int, default 6
        Calls for one document while the server is busy; waits double from half a second, or are as it asks.
    timeout : float, default 60
        Seconds of a call.
    cache : path or False, optional
        Folder of kept answers; by default the user's cache folder (or ``$DEADHEAT_CACHE``). False keeps none.
    name : str, optional
        By default that of the model.
    """

    def __init__(
        self,
        endpoint: str,
        model: str,
        *,
        api_key_env: str = "OPENAI_API_KEY",
        prompt: str = PROMPT,
        parallel: int = 8,
        attempts: int = 6,
        timeout: float = 60.0,
        cache: str | Path | Literal[False] | None = None,
        name: str | None = None,
    ) -> None:
        if urlsplit(endpoint).scheme not in {"http", "https"}:
            raise ParameterError(argument="endpoint", given=endpoint, allowed="a URL, as http://localhost:8000/v1")
        if not model:
            raise ParameterError(argument="model", given=model, allowed="the name of a model")
        if lacking := [one for one in ("{query}", "{document}") if one not in prompt]:
            raise ParameterError(f"the prompt has no {lacking[0]}", given=prompt, argument="prompt")
        self.endpoint, self.model, self.prompt = endpoint.rstrip("/"), model, prompt
        self.api_key_env, self.timeout, self.name = api_key_env, timeout, name or model
        self.parallel, self.attempts = as_count("parallel", parallel), as_count("attempts", attempts)
        self.key = {"endpoint": self.endpoint, "model": model, "prompt": prompt}
        named = hashlib.sha256(json.dumps(self.key).encode()).hexdigest()[:32]
        folder = default_folder() if cache is None else cache
        self._kept = Path(folder) / "grades" / f"{named}.jsonl" if folder else None

    def __repr__(self) -> str:
        return f"LLM({self.endpoint!r}, {self.model!r})"

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Return the answer for each pair of query and document.

        Raises
        ------
        DataError
            The endpoint refuses the key, the model or the prompt; or it cannot be reached, or stays busy.
        """
        wanted = {hashlib.sha256("\0".join(pair).encode()).hexdigest(): pair for pair in pairs}
        answers = self._read()
        todo = {name: pair for name, pair in wanted.items() if name not in answers}
        if self._kept is not None:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
        pool, is_over = ThreadPoolExecutor(self.parallel), Event()

        def answer(name: str, pair: tuple[str, str]) -> None:
            answers[name] = self._ask(pair, is_over)
            self._keep(name, answers[name])

        try:
            with phase(f"asking {self.name}", len(todo)) as advance:
                for done in as_completed([pool.submit(answer, name, pair) for name, pair in todo.items()]):
                    done.result()
                    advance(1)
        finally:
            is_over.set()  # who waits for a busy server waits no longer
            pool.shutdown(cancel_futures=True)
        return [answers[hashlib.sha256("\0".join(pair).encode()).hexdigest()] for pair in pairs]

    def _read(self) -> dict[str, str]:
        """Return the answers that are kept; a line that was cut short by the end of a process is none."""
        if self._kept is None or not self._kept.exists():
            return {}
        found = {}
        for line in self._kept.read_text(encoding="utf-8").splitlines():
            try:
                name, answer = json.loads(line)
            except ValueError:
                continue
            found[name] = answer
        return found

    def _keep(self, name: str, answer: str) -> None:
        if self._kept is not None:
            with self._kept.open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps([name, answer])}\n")  # one write; a line that was cut ends here

    def _ask(self, pair: tuple[str, str], is_over: Event) -> str:
        parts = {"{query}": pair[0], "{document}": pair[1]}
        text = re.sub(r"\{query\}|\{document\}", lambda found: parts[found[0]], self.prompt)
        body = {"model": self.model, "messages": [{"role": "user", "content": text}], "temperature": 0}
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(self.api_key_env):
            headers["Authorization"] = f"Bearer {key}"
        request = Request(f"{self.endpoint}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310 - http
        wait, problem = FIRST_WAIT, ""
        for attempt in range(self.attempts):
            if attempt:
                if is_over.wait(min(wait, LONGEST_WAIT)):
                    break
                wait *= 2
            try:
                with urlopen(request, timeout=self.timeout) as answer:  # noqa: S310 - http or https, as was checked
                    return _content(json.load(answer))
            except HTTPError as error:
                with error:  # an open answer
                    problem = f"{error.code} {error.reason}: {shown(error.read(500).decode('utf-8', 'replace'))}"
                if error.code not in MAY_PASS:
                    raise DataError(f"{self.endpoint} refuses: {problem}", hint=self._advice(error.code)) from None
                asked = error.headers.get("Retry-After", "")
                wait = float(asked) if asked.isdigit() else wait
            except (URLError, OSError, HTTPException, ValueError, LookupError, TypeError) as error:
                problem = f"{type(error).__name__}: {getattr(error, 'reason', error)}"
        raise DataError(
            f"no answer from {self.endpoint} in {counted(self.attempts, 'attempt')}",
            given=Plain(problem),
            hint="what was answered is kept: the same call goes on from there",
        )

    def _advice(self, code: int) -> str:
        if code not in {401, 403}:
            return ""
        what = "holds another key" if os.environ.get(self.api_key_env) else "is not set"
        return f"the environment variable {self.api_key_env} {what}"


def _content(answer: Mapping[str, Any]) -> str:
    """Return the text of an answer, which may come in parts; a refusal has none."""
    held = answer["choices"][0]["message"].get("content") or ""
    return held if isinstance(held, str) else "".join(part.get("text", "") for part in held)
