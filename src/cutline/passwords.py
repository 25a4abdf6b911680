"""Keeping passwords out of what is said: in messages, logs, and the texts of exceptions."""

import re
from urllib.parse import unquote

HIDDEN = "***"
"""What stands for a password."""

_OF_A_USER = re.compile(r"(?:^|/)[^:/@?]*:(?!/)(.+)@", re.DOTALL)
_IN_AN_OPTION = re.compile(r"(?:password|passwd|pwd)=([^&\s]+)", re.IGNORECASE)


def hide_passwords(text: str, *urls: str) -> str:
    """Return a text in which no password of these urls of databases can be read.

    A url may be malformed, or no url at all. Everything from the first colon of its user to its last @ is a password,
    and so is the value of an option whose name ends in "password", "passwd" or "pwd".
    """
    for url in urls:
        for secret in _OF_A_USER.findall(url) + _IN_AN_OPTION.findall(url):
            for form in sorted({secret, unquote(secret), repr(secret)[1:-1]}, key=len, reverse=True):
                text = text.replace(f":{form}@", f":{HIDDEN}@")
                if "//" in url or f"={form}" in url:
                    text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", HIDDEN, text)
    return text
