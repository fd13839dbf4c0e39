"""The sentences of the program's comments, and those of them that are headless: they say "what", "who" or "one that"
where the noun should stand.

Run as a program it prints how many there are in each folder; with paths, the sentences of those files and folders.
"""

import argparse
import collections
import re

import c_source
import names
import tree

MARKS = re.compile(r"^[ \t]*(?:/\*+|\*/|\*|//)[ \t]?|[ \t]*\*/[ \t]*$", re.MULTILINE)
CODE = re.compile(r"^ {4,}.*$", re.MULTILINE)  # drawings, tables, examples
END = re.compile(r"(?<=[.:;?!])\s+(?=[A-Z\"'(])|\n\s*\n")
BESIDE = re.compile(r"\s*\n\s*")

HEADLESS = re.compile(
    r"^(?:what|who|whoever|whatever|such)\b(?!.*\?$)"
    r"|\b(?:one|those|these|ones|the other|others) (?:that|who|which|whose|of|to|from|in|with)\b"
    r"|\b(?:all|anything|something|nothing|everything|and|or|but|than|as|of|to|by|for|with|from|in|on|at|until|like|beside|between|into|over|through|only|not) (?:that|what|who|whoever|whatever)\b(?! (?:is|are) (?:allowed|possible))"
    r"|, (?:what|who) [a-z]+ ", re.IGNORECASE)


def comments(text):
    """(line, text) of each comment; those that follow one another line by line are one."""
    for match in c_source.SKIPPED.finditer(text):
        if match.group("comment"):
            yield c_source.line_at(text, match.start()), CODE.sub("", MARKS.sub("", match.group()))


def sentences(text):
    """(line, sentence) of each sentence in the comments of a source."""
    for line, comment in comments(text):
        offset = 0
        for part in END.split(comment):
            at = comment.find(part, offset)
            offset = at + len(part)
            sentence = BESIDE.sub(" ", part).strip()
            if re.search(r"[a-z]{2}", sentence):
                yield line + comment.count("\n", 0, at + len(part) - len(part.lstrip())), sentence


def is_headless(sentence):
    return bool(HEADLESS.search(sentence))


def counted(paths):
    """{folder: [sentences, headless]}"""
    found = collections.defaultdict(lambda: [0, 0])
    for path in paths:
        for _, sentence in sentences((tree.ROOT / path).read_text()):
            found[str(path.parent)][0] += 1
            found[str(path.parent)][1] += is_headless(sentence)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", help="whose headless sentences are printed")
    arguments = parser.parse_args()
    for path in names.sources():
        if any(str(path).startswith(wanted) for wanted in arguments.paths):
            for line, sentence in sentences((tree.ROOT / path).read_text()):
                if is_headless(sentence):
                    print(f"{path}:{line}: {sentence}")
    if not arguments.paths:
        table = counted(names.sources())
        for folder, (count, headless) in sorted(table.items()):
            print(f"{folder:40} {headless:5} of {count:5}")
        count, headless = (sum(column) for column in zip(*table.values()))
        print(f"{'together':40} {headless:5} of {count:5}: {headless / count:.1%}")


if __name__ == "__main__":
    main()
