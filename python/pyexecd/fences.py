"""The fenced code blocks of a message, for executors of AutoGen 0.2 (see pyexecd.coding)."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Match, Optional, Tuple, Union

from autogen.code_utils import UNKNOWN, content_str, infer_lang
from autogen.coding import CodeBlock, MarkdownCodeExtractor

__all__ = ["FenceExtractor"]

LINES = re.compile(r"\r\n|\r|\n")
OPENING = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}(?=[^`]*\Z)|~{3,})[ \t]*(?P<language>\S*)")
INDENT_OF_CLOSING = 3  # more than that of the opening, at most


def closes(line: str, opening: Match[str]) -> bool:
    """Whether LINE ends the block that OPENING has begun."""
    marks = line.strip(" \t")
    indent = len(line) - len(line.lstrip(" \t"))
    return (len(marks) >= len(opening["marks"]) and not marks.strip(opening["marks"][0])
            and indent <= len(opening["indent"]) + INDENT_OF_CLOSING)


def without_indent(line: str, most: int) -> str:
    """LINE without as many of the blanks that it begins with as its fence has, MOST."""
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[min(blanks, most):]


def fenced(text: str) -> Iterator[Tuple[str, str]]:
    """The fenced blocks of TEXT as CommonMark has them, however far they are indented: pairs of a language, which may
    be empty, and code."""
    opening: Optional[Match[str]] = None
    code: List[str] = []
    for line in LINES.split(text):
        if opening is None:
            opening, code = OPENING.match(line), []
        elif closes(line, opening):
            yield opening["language"], "\n".join(code)
            opening = None
        else:
            code.append(without_indent(line, len(opening["indent"])))
    if opening is not None:
        yield opening["language"], "\n".join(code).removesuffix("\n")


class FenceExtractor(MarkdownCodeExtractor):
    """AutoGen's extractor, which finds blocks of any fence of CommonMark: with tildes, of four marks and more, around
    other fences, and of languages such as `c++`."""

    def extract_code_blocks(self, message: Union[str, List[Dict[str, Any]], None]) -> List[CodeBlock]:
        """The blocks of MESSAGE. The language of one that names none is guessed as AutoGen does."""
        found = []
        for language, code in fenced(content_str(message)):
            language = language or infer_lang(code)
            found.append(CodeBlock(code=code, language="" if language == UNKNOWN else language))
        return found
