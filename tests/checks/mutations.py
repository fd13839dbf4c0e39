"""Small changes of a C source that its tests should notice, and those of which it is known that none can.

An operator yields what it would change as (begin, end, replacement) in the body of a function; {} in the replacement
stands for what was there.
"""

import dataclasses
import re

import c_source
import tree

ACCEPTED = tree.ROOT / "tests" / "mutate_accepted.txt"

SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "+=": "-=", "-=": "+=",
}
BINARY = re.compile(r"(?<=\s)(?:" + "|".join(re.escape(sign) for sign in SWAPS) + r")(?=\s)")
STEP = re.compile(r"\+\+|--")
NUMBER = re.compile(r"(?<![\w.])(?<!return )(?<!return -)(?<!\{)(\d+)(?=[UL]*(?![\w.]))")
NAMED_NUMBER = re.compile(r"(?:#define |enum \{ |^ +)([A-Z]\w*)(?: = | +)(\d+)(?=[UL]*(?:[ ,]|$))", re.MULTILINE)
# Nobody who has the standard streams is given descriptor 0.
DESCRIPTOR = re.compile(r"\w*fd (?:<|>=) 0\b")
RETURN = re.compile(r"\breturn ([^;]+);")
RETURNS = {"0": "-1", "-1": "0", "1": "0", "true": "false", "false": "true"}
CONDITION = re.compile(r"\b(?:if|while) (?=\()")
STATEMENT = re.compile(r"^ +(?!(?:return|if|while|for|switch|sizeof|assert|va_end|log_\w+)\b)[\w.>\[\]-]+(?=\()", re.MULTILINE)


@dataclasses.dataclass(frozen=True, order=True)
class Mutation:
    path: str
    begin: int
    end: int
    replacement: str
    function: str  # or the constant
    line: int
    before: str  # the lines it changes, as one
    after: str

    def apply(self, text):
        return text[:self.begin] + self.replacement + text[self.end:]

    def identity(self):
        """What stays the same when other lines change."""
        return self.path, self.function, self.before, self.after


def closing(text, opening):
    """Behind the parenthesis that closes the one at OPENING."""
    depth = 0
    for place in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def swapped_operators(function):
    for sign in BINARY.finditer(function.body):
        yield sign.start(), sign.end(), SWAPS[sign.group()]
    for sign in STEP.finditer(function.body):
        yield sign.start(), sign.end(), "--" if sign.group() == "++" else "++"


def other_numbers(function):
    for number in NUMBER.finditer(function.body):
        yield number.start(1), number.end(1), str(int(number.group(1)) + 1)
        if int(number.group(1)) > 0:
            yield number.start(1), number.end(1), str(int(number.group(1)) - 1)


def other_results(function):
    for result in RETURN.finditer(function.body):
        value = result.group(1)
        if value in RETURNS:
            yield result.start(1), result.end(1), RETURNS[value]
        elif "bool" in function.result.split():
            yield result.start(1), result.end(1), "!({})"


def negated_conditions(function):
    for condition in CONDITION.finditer(function.body):
        yield condition.end(), closing(function.body, condition.end()), "(!{})"


def removed_calls(function):
    for call in STATEMENT.finditer(function.body):
        end = closing(function.body, call.end())
        if function.body[end:end + 1] == ";":
            yield call.end() - len(call.group().lstrip()), end, ""


OPERATORS = (swapped_operators, other_numbers, other_results, negated_conditions, removed_calls)


def changes(source):
    """Yields (begin, end, replacement, function) for all of SOURCE."""
    for function in source.functions:
        left_alone = [match.span() for match in DESCRIPTOR.finditer(function.body)]
        for operator in OPERATORS:
            for begin, end, replacement in operator(function):
                if any(first <= begin and end <= last for first, last in left_alone):
                    continue
                yield function.body_offset + begin, function.body_offset + end, replacement, function.name
    outside = source.code
    for function in source.functions:
        end = function.body_offset + len(function.body)
        outside = outside[:function.body_offset] + c_source.blank(function.body) + outside[end:]
    for number in NAMED_NUMBER.finditer(outside):
        yield number.start(2), number.end(2), str(int(number.group(2)) + 1), number.group(1)


def mutation(path, text, change):
    begin, end, replacement, function = change
    replacement = replacement.replace("{}", text[begin:end])
    first = text.rfind("\n", 0, begin) + 1
    last = text.find("\n", end)
    lines = text[first:last]
    changed = text[first:begin] + replacement + text[end:last]
    return Mutation(path, begin, end, replacement, function, c_source.line_at(text, begin),
                    " ".join(lines.split()), " ".join(changed.split()))


def of_text(path, text):
    return sorted(mutation(path, text, change) for change in changes(c_source.parse(text)))


def accepted(text):
    """The mutations that TEXT, the list, accepts: their identities, with the reasons."""
    found = {}
    for block in re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip()):
        if block:
            place, before, after, reason = block.split("\n", 3)
            path, function = place.split()
            found[path, function, before.removeprefix("- "), after.removeprefix("+").strip()] = " ".join(reason.split())
    return found
