"""Commands at the beginning of a block that install packages. The server carries them out: it makes an environment that
has all of the executor's own and these packages, since code can only read the program's Python."""

from __future__ import annotations

import dataclasses
import re
import shlex
from typing import Iterable, List, Optional

PIP = re.compile(r"[ \t]*(?:uv[ \t]+pip|(?:(?:python3?|\{sys\.executable\})[ \t]+-m[ \t]+)?pip3?)[ \t]+install(?!\S)")
MAGIC = re.compile(r"[ \t]*[!%][ \t]*")
LINE = re.compile(r"(?:[^\\\n]|\\.|\\\n|\\\Z)*\n?")
# Lines that may stand before a command.
HARMLESS = re.compile(r"[ \t]*(?:#.*|set[ \t][-+a-z \t]*)?\n?")
NEXT = re.compile(r"&&|;")
COMMENT = re.compile(r"[ \t]#.*", re.DOTALL)
# Where the output goes, and what a failure leads to: it ends the block here.
OUTPUT = re.compile(r"[ \t](?:[12&]?>{1,2}[ \t]*(?:/dev/null|&[12])|\|[ \t]*(?:tail|head|grep)\b[^|;&\n]*"
                    r"|\|\|[ \t]*(?:true|:|exit[ \t]+[0-9]+)(?!\S))")

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
VERSION = r"(?:===|[=~!<>]=|[<>])[ \t]*[A-Za-z0-9.*+!_-]+"
EXTRAS = rf"\[[ \t]*{NAME}(?:[ \t]*,[ \t]*{NAME})*[ \t]*\]"
REQUIREMENT = re.compile(rf"{NAME}(?:{EXTRAS})?[ \t]*(?:{VERSION}(?:[ \t]*,[ \t]*{VERSION})*)?")
# Characters; more is left to the script, and the time that reading takes has a limit.
MOST_CODE = 100_000
MOST_LINE = 4_000
MOST_WORD = 200

UPGRADE = {"-U", "--upgrade"}
IGNORED = {"-q", "-qq", "-qqq", "--quiet", "-v", "-vv", "--verbose", "--user", "--no-cache-dir", "--no-cache",
           "--no-input", "--disable-pip-version-check", "--break-system-packages", "--prefer-binary", "--no-color",
           "--system", "--no-warn-script-location", "--no-warn-conflicts"}
IGNORED_VALUE = re.compile(r"[ \t]--(?:progress-bar|timeout|default-timeout|retries|root-user-action)(?:=|[ \t]+)\S+")
# Another place to install into, nothing to install, or more of a shell's language: the script's own matter.
LEFT = re.compile(r"-h|--help|--dry-run|-t|--(?:target|prefix|root|python)(?:=.*)?|.*[$`|&()].*|[0-9]?[<>].*",
                  re.DOTALL)

REFUSED = ("pip install: `{}` is not possible here, and nothing was installed. Name packages of the index without it, "
           "such as `pip install \"pandas>=2\" requests`.")


@dataclasses.dataclass
class Reading:
    """What a block asks for: PACKAGES, those of them to UPGRADE, and the REST of its code, with as many lines. A
    PROBLEM is why nothing is to be done."""

    packages: List[str] = dataclasses.field(default_factory=list)
    upgrade: List[str] = dataclasses.field(default_factory=list)
    rest: str = ""
    problem: str = ""


def read(language: str, code: str) -> Reading:
    """The commands that CODE begins with. Those behind another command are left to the script."""
    reading, rest, position, left = Reading(), [], 0, ""
    while position < len(code) <= MOST_CODE and not left.strip() and not reading.problem:
        line = LINE.match(code, position)
        assert line
        if HARMLESS.fullmatch(line[0]):
            rest.append(line[0])
        else:
            found = read_line(reading, language, line[0])
            if found is None:
                break
            left = found
            rest.append(left + "\n" * (line[0].count("\n") - left.count("\n")))
        position = line.end()
    reading.rest = "".join([*rest, code[position:]])
    return reading


def read_line(reading: Reading, language: str, line: str) -> Optional[str]:
    """Adds the commands that LINE begins with to READING. The rest of LINE; None: it begins with another one."""
    magic = MAGIC.match(line) if language == "python" else re.match("", line)
    if not magic or len(line) > MOST_LINE:
        return None
    rest, begun = line[magic.end():], False
    while found := PIP.match(rest):
        text = rest[found.end():]
        following = NEXT.search(COMMENT.sub("", text))
        if not read_arguments(reading, text[:following.start()] if following else text):
            break
        rest, begun = text[following.end():] if following else "", True
    if not begun:
        return None
    return magic[0] + rest.lstrip(" \t") if rest.strip() else ""


def read_arguments(reading: Reading, arguments: str) -> bool:
    """Adds what `pip install` with ARGUMENTS is to do to READING. False where that is left to the script."""
    plain = IGNORED_VALUE.sub("", OUTPUT.sub("", arguments.replace("\\\n", " ")))
    try:
        words = shlex.split(plain, comments=True)
    except ValueError:
        return False
    packages = [word for word in words if word not in IGNORED | UPGRADE]
    if not packages or any(map(LEFT.fullmatch, packages)):
        return False
    wrong = [word for word in packages if len(word) > MOST_WORD or not REQUIREMENT.fullmatch(word)]
    if wrong:
        reading.problem = REFUSED.format(wrong[0][:MOST_WORD])
    reading.packages += packages
    reading.upgrade += packages if UPGRADE.intersection(words) else []
    return True


def name_of(package: str) -> str:
    """The name in PACKAGE, as names are compared."""
    found = re.match(NAME, package)
    return re.sub("[-_.]+", "-", found[0].lower()) if found else ""


def merged(packages: Iterable[str], reading: Reading) -> List[str]:
    """PACKAGES and those of READING, one of each name: the last. A name alone is there already in any version."""
    named = {name_of(each): each for each in packages}
    for each in reading.packages:
        if each in reading.upgrade or not re.fullmatch(NAME, each) or name_of(each) not in named:
            named[name_of(each)] = each
    return list(named.values())


def told(reading: Reading, before: Iterable[str]) -> str:
    """What pip would say of READING, which has been done, where BEFORE were there."""
    new = [each for each in merged(before, reading) if each not in before]
    if new:
        return f"Successfully installed {' '.join(new)}\n"
    return f"Requirement already satisfied: {' '.join(dict.fromkeys(reading.packages))}\n"
