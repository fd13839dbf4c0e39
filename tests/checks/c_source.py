"""C as far as the checks need it: comments, strings, functions, tags and macros of one file.

No parser. It relies on the formatter: a function's braces stand alone in column 0, and nothing else's do.
"""

import dataclasses
import re

SKIPPED = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+[<"]([^>"]+)[>"]', re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*\{")
BODY = re.compile(r"^\{\n(?P<body>.*?)^\}$", re.MULTILINE | re.DOTALL)
BLANK_LINE = re.compile(r"^\s*\n", re.MULTILINE)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")


@dataclasses.dataclass
class Function:
    name: str
    line: int  # of the name
    last_line: int  # of the closing brace
    result: str  # what stands before its name
    parameters: str  # between its parentheses
    body: str  # between the braces, without comments and the text of strings
    body_offset: int  # where that begins in the file

    @property
    def is_static(self):
        return self.result.startswith("static ")


@dataclasses.dataclass
class Source:
    """One file. CODE is TEXT with blanks for comments and the inside of strings; STATEMENTS is
    CODE with blanks for directives, too. Offsets are the same in all three."""

    text: str
    code: str
    statements: str
    functions: list
    tags: list  # (name, line) of each struct, union or enum that has its body here
    macros: list  # (name, line) of each #define
    includes: list  # what is included, as it is written
    comment_lines: set  # the numbers of the lines that hold a comment


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def blank_skipped(match):
    skipped = match.group()
    if match.group("comment"):
        return blank(skipped)
    return skipped[0] + blank(skipped[1:-1]) + skipped[-1]


def line_at(text, offset):
    return text.count("\n", 0, offset) + 1


def name_in(head):
    """The match of the name of the function whose HEAD this is."""
    head = ATTRIBUTE.sub(lambda match: blank(match.group()), head)
    return re.search(r"(\w+)\s*\(", head)


def functions_of(statements):
    found = []
    end = 0
    for body in BODY.finditer(statements):
        gap = [blank.end() for blank in BLANK_LINE.finditer(statements, end, body.start())]
        begin = gap[-1] if gap else end
        head = statements[begin:body.start()]
        name = name_in(head)
        end = body.end()
        found.append(Function(
            name=name.group(1),
            line=line_at(statements, begin + name.start(1)),
            last_line=line_at(statements, end),
            result=" ".join(head[:name.start()].split()),
            parameters=" ".join(head[name.end():head.rindex(")")].split()),
            body=body.group("body"),
            body_offset=body.start("body"),
        ))
    return found


def places(pattern, text):
    return [(match.group(1), line_at(text, match.start(1))) for match in pattern.finditer(text)]


def comment_lines(text):
    comments = [match for match in SKIPPED.finditer(text) if match.group("comment")]
    return {
        number
        for comment in comments
        for number in range(line_at(text, comment.start()), line_at(text, comment.end()) + 1)
    }


def parse(text):
    code = SKIPPED.sub(blank_skipped, text)
    statements = DIRECTIVE.sub(lambda match: blank(match.group()), code)
    return Source(
        text=text,
        code=code,
        statements=statements,
        functions=functions_of(statements),
        tags=places(TAG, statements),
        macros=places(MACRO, code),
        includes=INCLUDE.findall(text),
        comment_lines=comment_lines(text),
    )
