"""Commands at the beginning of a block that install packages. The server carries them out: it makes an environment that
has all of the executor's own and these packages, since code can only read the program's Python."""

from __future__ import annotations

import dataclasses
import re
import shlex
from typing import Iterable, List, Optional, Set

# Options that say how much pip prints; those between `pip` and `install` as well.
LOUDNESS = r"(?:-[qv]+|--quiet|--verbose|--no-input|--no-color|--disable-pip-version-check)"
PYTHON = r"(?:python(?:3(?:\.[0-9]+)?)?|\{sys\.executable\})"
PIP = re.compile(rf"(?:[ \t]|\\\n)*(?:uv[ \t]+pip|(?:{PYTHON}[ \t]+-m[ \t]+)?pip(?:3(?:\.[0-9]+)?)?)"
                 rf"(?:[ \t]+{LOUDNESS})*[ \t]+install(?!\S)")
MAGIC = re.compile(r"[ \t]*[!%][ \t]*")
LINE = re.compile(r"(?:[^\\\n]|\\.|\\\n|\\\Z)*\n?")
# What may stand before a command: it changes nothing of it. A variable of an installer would.
SETTING = (r"(?:set(?:[ \t]+[-+a-z]+)+"
           r"|export[ \t]+(?!PIP_|UV_|PATH=|PYTHON)[A-Za-z_][A-Za-z0-9_]*=[A-Za-z0-9_./:,@%+-]*)[ \t]*")
HARMLESS = re.compile(rf"[ \t]*(?:#.*|{SETTING}(?:(?:;|&&)[ \t]*{SETTING})*(?:;[ \t]*)?)?\n?")
BEFORE = re.compile(rf"[ \t]*(?:{SETTING}(?:;|&&)[ \t]*)*")
# The arguments of a command of a shell, up to what ends it.
ARGUMENTS = re.compile(r"""(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|&(?!&)|[^&;'"\\])*""", re.DOTALL)
FOLLOWING = re.compile(r"&&|;|\Z")
COMMENT = re.compile(r"(?<!\S)#.*", re.DOTALL)
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
MOST_PACKAGES = 256  # the server takes no more

SHORT = re.compile("-[qvU]+")
UPGRADE = {"-U", "--upgrade"}
IGNORED = {"--quiet", "--verbose", "--user", "--no-cache-dir", "--no-cache", "--no-input", "--no-color", "--system",
           "--disable-pip-version-check", "--break-system-packages", "--prefer-binary", "--no-warn-script-location",
           "--no-warn-conflicts", "--force-reinstall"}
IGNORED_VALUE = re.compile(r"[ \t]--(?:progress-bar|timeout|default-timeout|retries|root-user-action|only-binary"
                           r"|upgrade-strategy)(?:=|[ \t]+)\S+")
# Another place to install into, nothing to install, or more of a shell's language: the script's own matter.
LEFT = re.compile(r"-h|--help|--dry-run|-t|--(?:target|prefix|root|python)(?:=.*)?|.*[$`|&()].*|[0-9]?[<>].*",
                  re.DOTALL)

TOO_MANY = f"pip install: more than {MOST_PACKAGES} packages are not possible here, and nothing was installed."
REFUSED = ("pip install: `{}` is not possible here, and nothing was installed. Name packages of the index without it, "
           "such as `pip install \"pandas>=2\" requests`.")


@dataclasses.dataclass
class Reading:
    """What a block asks for: PACKAGES, those of them to UPGRADE, and the REST of its code, with as many lines. A
    PROBLEM is why nothing is to be done."""

    packages: List[str] = dataclasses.field(default_factory=list)
    upgrade: Set[str] = dataclasses.field(default_factory=set)
    rest: str = ""
    problem: str = ""


def read(language: str, code: str) -> Reading:
    """The commands that CODE begins with. Those behind another command are left to the script."""
    reading, rest, position, left = Reading(), [], 0, ""
    while position < len(code) <= MOST_CODE and HARMLESS.fullmatch(left) and not reading.problem:
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
    before = (MAGIC if language == "python" else BEFORE).match(line)
    comment = COMMENT.search(line)
    if not before or len(line) > MOST_LINE or comment and "\\\n" in comment[0]:
        return None
    rest, begun = line[before.end():], False
    while found := PIP.match(rest):
        text = rest[found.end():]
        bare = COMMENT.sub("", text)
        arguments = ARGUMENTS.match(bare)
        assert arguments
        following = FOLLOWING.match(bare, arguments.end())
        if not following or not read_arguments(reading, arguments[0]):
            break
        rest, begun = text[following.end():] if following[0] else "", True
    if not begun:
        return None
    return before[0] + rest.lstrip(" \t") if rest.strip() else before[0].rstrip(" \t;&!%")


def words_of(arguments: str) -> List[str]:
    """ARGUMENTS as a shell divides them. Raises ValueError if a quotation has no end."""
    lexer = shlex.shlex(arguments.replace("\\\n", "").rstrip(), posix=True)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\n", True, ""
    return list(lexer)


def read_arguments(reading: Reading, arguments: str) -> bool:
    """Adds what `pip install` with ARGUMENTS is to do to READING. False where that is left to the script."""
    try:
        words = words_of(IGNORED_VALUE.sub("", OUTPUT.sub("", arguments)))
    except ValueError:
        return False
    packages = [word for word in words if word not in IGNORED | UPGRADE and not SHORT.fullmatch(word)]
    if not packages or any(map(LEFT.fullmatch, packages)):
        return False
    wrong = [word for word in packages if len(word) > MOST_WORD or not REQUIREMENT.fullmatch(word)]
    if wrong:
        reading.problem = REFUSED.format(wrong[0][:MOST_WORD])
    reading.packages += packages
    if any(word in UPGRADE or SHORT.fullmatch(word) and "U" in word for word in words):
        reading.upgrade.update(packages)
    if len(reading.packages) > MOST_PACKAGES:
        reading.problem = TOO_MANY
    return True


def name_of(package: str) -> str:
    """The name in PACKAGE, as names are compared."""
    found = re.match(NAME, package)
    return re.sub("[-_.]+", "-", found[0].lower()) if found else ""


def is_name(package: str) -> bool:
    """Whether PACKAGE says nothing but a name."""
    return re.fullmatch(NAME, package) is not None


def merged(packages: Iterable[str], reading: Reading) -> List[str]:
    """PACKAGES and those of READING, one of each name: the last. A name alone is there already in any version."""
    named = {name_of(each): each for each in packages}
    for each in reading.packages:
        if each in reading.upgrade or not is_name(each) or name_of(each) not in named:
            named[name_of(each)] = each
    return list(named.values())


def told(reading: Reading) -> str:
    """What a model reads once READING has been done. The program's Python may have had some of it."""
    kept = " (-U without a version may keep what was there)" if any(map(is_name, reading.upgrade)) else ""
    return f"Requirement satisfied: {', '.join(dict.fromkeys(reading.packages))}{kept}\n"
