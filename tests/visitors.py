"""Somebody who visits pages without a browser: keeps cookies, follows links and sends forms."""

from html.parser import HTMLParser
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode, urljoin

import urllib3

Attributes = dict[str, str | None]


class Document(HTMLParser):
    """A page: its tags with their attributes, its forms with their fields, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Attributes]] = []
        self.forms: list[tuple[Attributes, dict[str, str]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag == "form":
            self.forms.append((given, {}))
        elif tag == "input" and self.forms and given.get("type") == "hidden":
            self.forms[-1][1][str(given["name"])] = given["value"] or ""

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self) -> list[str]:
        """Return where its links lead."""
        return [given["href"] or "" for tag, given in self.tags if tag == "a" and "href" in given]

    def form(self, action: str) -> tuple[str, dict[str, str]]:
        """Return the address and the hidden fields of the form whose address begins like this."""
        for given, fields in self.forms:
            where = given.get("action") or ""
            if where.partition("?")[0].endswith(action):
                return where, dict(fields)
        raise AssertionError(f"no form {action!r} among {[given.get('action') for given, _ in self.forms]}")


class Visitor:
    """A browser without a screen; ``status``, ``headers``, ``url`` and ``page`` are those of the last answer."""

    def __init__(self, address: str) -> None:
        self.url = address
        self.cookies: dict[str, str] = {}
        self.status = 0
        self.headers: Any = {}
        self.page = Document("")
        self.body = b""
        self._http = urllib3.PoolManager(retries=False)

    def get(self, path: str, **query: str) -> "Visitor":
        """Load a page, following redirects."""
        return self._request("GET", f"{path}?{urlencode(query)}" if query else path)

    def send(self, action: str, **fields: str) -> "Visitor":
        """Send a form of the page that was loaded last, with its hidden fields and these."""
        where, hidden = self.page.form(action)
        return self.post(where, hidden | fields)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> "Visitor":
        """Send fields as a form."""
        return self._request("POST", path, urlencode(fields), headers)

    def _request(
        self, method: str, path: str, body: str | None = None, more: dict[str, str] | None = None
    ) -> "Visitor":
        url = urljoin(self.url, path)
        for _ in range(10):
            headers = {"Accept": "text/html", "Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
            if body is not None:
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            answer = self._http.request(method, url, body=body, headers=headers | (more or {}), redirect=False)
            for line in answer.headers.getlist("set-cookie"):
                for name, morsel in SimpleCookie(line).items():
                    self.cookies[name] = morsel.value
            if answer.status != 303:
                break
            method, body, url = "GET", None, urljoin(url, answer.headers["location"])
        self.url, self.status, self.headers, self.body = url, answer.status, answer.headers, answer.data
        html = (answer.headers.get("content-type") or "").startswith("text/html")
        self.page = Document(answer.data.decode()) if html else Document("")
        return self
