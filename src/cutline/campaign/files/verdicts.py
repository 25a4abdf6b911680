"""Decisions as continuous integration takes them: a table in Markdown, a list of ids, JUnit XML with a case an arm."""

import re
from collections.abc import Sequence
from typing import IO
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from cutline.campaign.results import Decision, in_words
from cutline.errors import InvalidInputError
from cutline.text import printable, quoted

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_markdown(decisions: Sequence[Decision], threshold: float, only: str | None = None) -> str:
    """Return a line with the counts and a table, as the summary of a job on GitHub or GitLab shows them.

    With ``only``, such as "below", the table has only the arms of which this is decided.
    """
    words = [in_words(item) for item in decisions]
    counts = ", ".join(f"{words.count(word):,} {word}" for word in ("below", "above", "undecided"))
    lines = [f"{counts} (threshold {threshold:g})", "", "| arm | pulls | mean | decision | wrong |"]
    lines.append("| --- | ---: | ---: | --- | ---: |")
    for item, word in zip(decisions, words, strict=True):
        if only not in (None, word):
            continue
        mean = "-" if item.mean is None else f"{item.mean:.4f}"
        lines.append(f"| {_code(item.arm)} | {item.pulls:,} | {mean} | {word} | {item.wrong:.4f} |")
    return "\n".join(lines) + "\n"


def as_ids(decisions: Sequence[Decision]) -> str:
    """Return the ids, one a line, exactly as they stand; raise InvalidInputError for one that has a line end."""
    for item in decisions:
        if "\n" in item.arm or "\r" in item.arm:
            raise InvalidInputError(
                f"the id {quoted(item.arm)} has a line end, so that its lines could be misread; "
                "give --format json or csv"
            )
    return "".join(f"{item.arm}\n" for item in decisions)


def write_junit(decisions: Sequence[Decision], name: str, threshold: float, file: IO[bytes]) -> None:
    """Write JUnit XML: a case an arm, failed if it is below the threshold, skipped if it is undecided."""
    words = [in_words(item) for item in decisions]
    counts = {"tests": len(words), "failures": words.count("below"), "skipped": words.count("undecided")}
    xml = XMLGenerator(file, "utf-8", short_empty_elements=True)  # as it goes: a tree takes 0.5 kB an arm

    def start(element: str, **attributes: str) -> None:
        xml.startElement(element, AttributesImpl(attributes))

    xml.startDocument()
    start("testsuites")
    start("testsuite", name=name, errors="0", **{key: str(count) for key, count in counts.items()})
    for item, word in zip(decisions, words, strict=True):
        start("testcase", classname=name, name=_NOT_IN_XML.sub(lambda match: printable(match[0]), item.arm))
        if word == "below":
            start("failure", message=_why_below(item, threshold))
            xml.endElement("failure")
        elif word == "undecided":
            start("skipped", message=f"there is no result{' that counts' if item.pulls else ''}")
            xml.endElement("skipped")
        xml.endElement("testcase")
    xml.endElement("testsuite")
    xml.endElement("testsuites")
    xml.endDocument()


def _why_below(item: Decision, threshold: float) -> str:
    """Return why an arm is called below; its mean may be above, and one whose answer is known may have no result."""
    below = f"below the threshold {threshold:g}"
    if item.known or item.mean is None:
        return f"its answer is known: {below}"
    pulls = "1 pull" if item.pulls == 1 else f"{item.pulls:,} pulls"
    return f"the mean of {pulls} is {item.mean:.4f}; it is {below} with a probability of {1.0 - item.wrong:.4f}"


def _code(text: str) -> str:
    """Return a text as code in a cell of a table."""
    plain = printable(text).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    room = " " if "`" in plain else ""
    return f"{fence}{room}{plain}{room}{fence}"
