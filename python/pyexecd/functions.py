"""Functions of a program that the code of a model may import, as AutoGen's executors offer them.

Works with AutoGen 0.7's FunctionWithRequirements and with those of 0.2 and AG2: it needs no more than their
attributes.
"""

from __future__ import annotations

import inspect
import re
import string
import textwrap
from typing import Any, Iterable, List

PROMPT = """You have access to the following user defined functions. They can be accessed from the module called \
`$module_name` by their function names.

For example, if there was a function called `foo` you could import it by writing `from $module_name import foo`

$functions"""


def packages(functions: Iterable[Any]) -> List[str]:
    """The packages that FUNCTIONS need, each once, in their order."""
    named = [package for function in functions for package in getattr(function, "python_packages", ())]
    return list(dict.fromkeys(named))


def source(functions: Iterable[Any]) -> str:
    """The module of FUNCTIONS, with the imports that they ask for at its head."""
    imports = [each for function in functions for each in getattr(function, "global_imports", ())]
    lines = list(dict.fromkeys(map(import_line, imports)))
    return "\n\n".join(["\n".join(lines), *map(definition, functions)]) + "\n"


def definition(function: Any) -> str:
    """The source of FUNCTION without AutoGen's decorator."""
    inner = getattr(function, "func", function)
    if isinstance(inner, str):
        return inner
    code = textwrap.dedent(inspect.getsource(inner))
    head = re.search(r"^(async\s+)?def\s", code, re.MULTILINE)
    return code[head.start():] if head and code.startswith("@") else code


def import_line(wanted: Any) -> str:
    """The statement for WANTED: a name, an Alias or an ImportFromModule."""
    if isinstance(wanted, str):
        return f"import {wanted}"
    if hasattr(wanted, "module"):
        return f"from {wanted.module} import {', '.join(map(alias, wanted.imports))}"
    return f"import {alias(wanted)}"


def alias(name: Any) -> str:
    return name if isinstance(name, str) else f"{name.name} as {name.alias}"


def stub(function: Any) -> str:
    """The signature and the docstring of FUNCTION."""
    for name in ("compiled_func", "_compiled_func", "func"):  # those of 0.7 and of 0.2 that are strings, and others
        function = getattr(function, name, function)
    lines = [f"def {function.__name__}{inspect.signature(function)}:"]
    if function.__doc__:
        lines.append(textwrap.indent(f'"""{textwrap.dedent(function.__doc__)}"""', "    "))
    return "\n".join([*lines, "    ..."])


def prompt(functions: Iterable[Any], module: str, template: str = PROMPT) -> str:
    """What a model is told of FUNCTIONS, in the words of TEMPLATE."""
    stubs = "\n\n".join(map(stub, functions))
    return string.Template(template).substitute(module_name=module, functions=stubs)
