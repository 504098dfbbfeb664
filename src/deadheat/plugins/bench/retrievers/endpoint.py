"""A server that speaks OpenAI's protocol, asked by the package openai; nothing that is printed or kept has a secret."""

import base64
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from deadheat.core.errors import DataError, ParameterError
from deadheat.core.libraries import import_package
from deadheat.core.wording import quote_text

MAY_PASS = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # answers of a server that is busy, or broken for a moment
HIDDEN = "***"
SHORTEST_SECRET = 4  # characters: with a key "2", as a local server may have, an answer "2" would be hidden
NAMES_OF_SECRETS = "(?i)key|token|secret|pass|auth|sig|code"  # in the query of a URL
FAILURES = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)  # of a call, or of its answer
LONGEST_PROBLEM = 200  # characters of what a server or a library says
RETRY_AFTER = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")


class NoAnswerError(Exception):
    """The server is busy, broken for a moment or out of reach: it may be asked again.

    Attributes
    ----------
    wait : float or None
        Seconds that the server asks to wait.
    """

    def __init__(self, problem: str, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait


class Secrets:
    """What is neither printed nor kept: a key, a user with password, values in a URL.

    Parameters
    ----------
    secrets : iterable of str
        One of fewer than four characters hides nothing.
    """

    def __init__(self, *secrets: str) -> None:
        forms: set[str] = set()
        for secret in secrets:
            forms |= forms_of(secret) | forms_of(unquote(secret))
        long_enough = [form for form in forms if len(form) >= SHORTEST_SECRET]
        self._forms = sorted(long_enough, key=len, reverse=True)

    def __repr__(self) -> str:
        return f"Secrets({HIDDEN})"

    def hide(self, text: str) -> str:
        """Return text with three stars in place of each secret.

        Examples
        --------
        >>> Secrets("sk-1234").hide("Incorrect API key provided: sk-1234")
        'Incorrect API key provided: ***'
        """
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return text


def forms_of(secret: str) -> set[str]:
    """Return a secret as URLs, JSON, Python and headers write it."""
    encoded = base64.b64encode(secret.encode("utf-8", "surrogateescape")).decode()
    as_json = json.dumps(secret)[1:-1]
    return {secret, quote(secret, errors="replace"), quote(secret, safe="", errors="replace"), as_json, encoded}


class Endpoint:
    """A server that speaks OpenAI's protocol.

    Parameters
    ----------
    url : str
        Up to /v1. A user with password in it is sent in place of a key, and a query with each request.
    api_key_env : str
        The environment variable that holds the key.
    timeout : float
        Seconds of a call, from the connection to the last byte.

    Attributes
    ----------
    name : str
        The URL without its secrets: user, password and the values of its query.
    """

    def __init__(self, url: str, api_key_env: str, timeout: float) -> None:
        check_url(url)
        self.api_key_env, self.timeout = api_key_env, timeout
        parts = urlsplit(url)
        user, at, host = parts.netloc.rpartition("@")
        path = parts.path.rstrip("/")
        self._user = user
        self._url = f"{parts.scheme}://{host}{path}"
        self._query = dict(parse_qsl(parts.query, keep_blank_values=True))
        hidden_user = HIDDEN + at if at else ""
        self.name = f"{parts.scheme}://{hidden_user}{host}{path}"
        if parts.query:
            self.name += "?" + "&".join(f"{name}={HIDDEN}" for name in self._query)

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r})"

    @contextmanager
    def open(self) -> Iterator["Chat"]:
        """Return what asks the server, with the key that the environment has now.

        Raises
        ------
        MissingDependencyError
            The package openai is not installed.
        DataError
            The key cannot be one, or a proxy of the environment cannot be used.
        """
        openai = import_package("openai", "a language model behind an endpoint needs openai", "llm")
        from deadheat.plugins.bench.retrievers.http_client import BoundedClient

        key = self._read_key()
        password = self._user.partition(":")[2]
        values = [value for name, value in self._query.items() if re.search(NAMES_OF_SECRETS, name)]
        secrets = Secrets(key, self._user, password, *values)
        authorization = ""
        if self._user:
            authorization = f"Basic {base64.b64encode(unquote(self._user).encode()).decode()}"
        elif key:
            authorization = f"Bearer {key}"
        try:
            http_client = BoundedClient(self.timeout, authorization)
        except (ValueError, ImportError) as error:  # ImportError: of a package for SOCKS
            raise DataError(
                "a proxy that the environment names cannot be used",
                found=hide_url(f"{error}"),
                hint="see http_proxy, https_proxy, all_proxy and no_proxy",
            ) from None
        with http_client:
            # its own retries would go on after an interrupt, so ours are used
            client = openai.OpenAI(
                api_key=key or "none",
                base_url=self._url,
                default_query=self._query,
                max_retries=0,
                http_client=http_client,
            )
            yield Chat(self, client, secrets, has_key=bool(key))

    def _read_key(self) -> str:
        key = os.environ.get(self.api_key_env, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise DataError(
                f"the environment variable {self.api_key_env} holds what no key has",
                found="a control character or one that is not ASCII",
                allowed="a key",
            )
        return key


class Chat:
    """Asks a server.

    Parameters
    ----------
    endpoint : Endpoint
    client : openai.OpenAI
    secrets : Secrets
    has_key : bool
    """

    def __init__(
        self,
        endpoint: Endpoint,
        client: Any,  # noqa: ANN401 - of openai
        secrets: Secrets,
        *,
        has_key: bool,
    ) -> None:
        self._endpoint, self._client, self._secrets = endpoint, client, secrets
        self._has_key = has_key

    def ask(self, model: str, text: str) -> str:
        """Return what a model answers to a text.

        Raises
        ------
        NoAnswerError
            There is no answer this time.
        DataError
            The server refuses the key, the model or the prompt, or wants to be asked elsewhere.
        """
        import openai

        messages = [{"role": "user", "content": text}]
        try:
            answer = self._client.chat.completions.create(model=model, messages=messages, temperature=0)
            content = content_of(answer)
        except openai.APIStatusError as error:
            problem = self._problem_of_status(error.response)
        except (
            openai.OpenAIError,
            OSError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            reason = error.__cause__ or error
            problem = NoAnswerError(f"{type(reason).__name__}: {self._hide(hide_url(f'{reason}'))}")
        else:
            return self._secrets.hide(content)
        raise problem

    def _problem_of_status(self, answer: Any) -> DataError | NoAnswerError:  # noqa: ANN401 - of httpx or of httpx2
        """Return the error that an answer is."""
        status, name = answer.status_code, self._endpoint.name
        location = answer.headers.get("location")
        if status < 400 and location:
            return DataError(
                f"{name} redirects to {self._hide(hide_url(location))}, and redirects are not followed",
                hint="give that URL, if you trust it",
            )
        problem = f"{status} {answer.reason_phrase}"
        if answer.content:
            problem += f": {self._hide(message_of(answer.content))}"
        if status in MAY_PASS:
            return NoAnswerError(problem, seconds_of(answer.headers.get("retry-after", "")))
        hint = ""
        if status in {401, 403}:
            state = "holds another key" if self._has_key else "is not set"
            hint = f"the environment variable {self._endpoint.api_key_env} {state}"
        return DataError(f"{name} refuses: {problem}", hint=hint)

    def _hide(self, text: str) -> str:
        return quote_text(self._secrets.hide(text), LONGEST_PROBLEM)


def check_url(url: str) -> None:
    """Raise `ParameterError`, with a URL without its secrets, unless a URL may be that of a server."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port  # which raises for a port that is none
        host.encode("idna")
        is_url = parts.scheme in {"http", "https"} and bool(host) and not parts.fragment
        is_url = is_url and url.isprintable() and " " not in url
    except (TypeError, ValueError, AttributeError):
        is_url = False
    if not is_url:
        allowed = "a URL, as http://localhost:8000/v1"
        raise ParameterError(argument="endpoint", given=hide_url(f"{url}"), allowed=allowed)


def hide_url(text: str) -> str:
    """Return text with stars in place of users and values of queries in URLs.

    Examples
    --------
    >>> hide_url("http://me:word@host/v1?key=abc&version=2")
    'http://***@host/v1?key=***&version=***'
    """
    words = []
    for word in text.split(" "):
        before, at, after = word.rpartition("@")
        if at:
            scheme, slashes, _ = before.partition("://")
            before = scheme + slashes + HIDDEN if slashes else HIDDEN
        words.append(before + at + after)
    return re.sub(r"([?&][^=&?\s]*=)[^&\s]*", rf"\1{HIDDEN}", " ".join(words))


def content_of(answer: Any) -> str:  # noqa: ANN401 - what a server sends
    """Return the text of an answer; empty where the model refuses."""
    content = answer.choices[0].message.content or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def message_of(body: bytes) -> str:
    """Return what an error says: the message in it if it is one of OpenAI's protocol, else its text."""
    text = body.decode("utf-8", "replace")
    try:
        message = json.loads(text)["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return text
    return message if isinstance(message, str) else text


def seconds_of(retry_after: str) -> float | None:
    """Return the seconds that a server asks to wait, or None.

    Examples
    --------
    >>> seconds_of("2"), seconds_of("1e9"), seconds_of("²"), seconds_of("soon")
    (2.0, None, None, None)
    """
    return float(retry_after) if RETRY_AFTER.fullmatch(retry_after.strip()) else None
