#!/usr/bin/python3
"""Makes the file by which a shell completes command lines of the program, from the program's own `--help`.

usage: completions.py PROGRAM bash|zsh|fish OUTPUT
"""

import pathlib
import re
import subprocess
import sys

COMMAND = re.compile(r"^ {7}pyexecd ([a-z|]+) .*?\s{2,}(\S.*)$")
COMMAND_BY_OPTION = re.compile(r"^ {7}pyexecd (--[a-z-]+) .*?\s{2,}(\S.*)$")
OPTION = re.compile(r"^  (?:(-\w), |    )(--[\w-]+)(?: \[?([A-Z]+)\]?)?\s{2,}(\S.*)$")
MORE = re.compile(r"^ {20,}(\S.*)$")
WORDS = re.compile(r"^[a-z][a-z-]*(?: \(default\))?(?:(?:, | or )[a-z][a-z-]*(?: \(default\))?)+(?=[;:] |$)")
PATHS = {"FILE": ("-f", "_files", "-r -F"), "DIR": ("-d", "_files -/", "-x -a '(__fish_complete_directories)'")}


class Option:
    def __init__(self, letter, name, argument, text):
        self.letter, self.name, self.argument, self.text = letter, name, argument, text

    @property
    def spellings(self):
        return [spelling for spelling in (self.letter, self.name) if spelling]

    @property
    def words(self):
        """What its argument can be, where the text says so."""
        listed = WORDS.match(self.text)
        return re.split(r", | or ", listed[0].replace(" (default)", "")) if self.argument and listed else []

    @property
    def about(self):
        """The beginning of the text, short enough to stand beside the option."""
        return self.argument.lower() if self.words else re.split(r"[;:.,] ", self.text)[0]


class Page:
    """What `pyexecd COMMAND --help` says."""

    def __init__(self, program, command=None):
        text = subprocess.run([program, *filter(None, [command]), "--help"], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        self.commands = [(name, found[2]) for found in map(COMMAND.match, text.splitlines()) if found
                         for name in found[1].split("|")]
        self.takes_file = "FILE" in text.partition("\n\n")[0]
        self.options = []
        for line in text.splitlines():
            command, option, more = COMMAND_BY_OPTION.match(line), OPTION.match(line), MORE.match(line)
            if command:
                self.options.append(Option(None, command[1], None, command[2]))
            elif option:
                self.options.append(Option(*option.groups()))
            elif more and self.options:
                self.options[-1].text += f" {more[1]}"


def bash(pages):
    def listed(words):
        return f"-W '{' '.join(words)}'"

    def reply(words):
        return f"mapfile -t COMPREPLY < <(compgen {words} -- \"$word\")"

    def arguments(command, page):
        for option in page.options:
            pattern = "|".join(f"{command}:{spelling}" for spelling in option.spellings)
            if option.argument in PATHS:
                yield f"    {pattern}) compopt -o filenames; {reply(PATHS[option.argument][0])} ;;"
            elif option.argument:
                yield f"    {pattern}) {reply(listed(option.words))} ;;"

    names = [name for name, _ in pages[""].commands]
    files = "|".join(f"{name}:*" for name, page in pages.items() if name and page.takes_file)
    yield "# Completes command lines of pyexecd in bash."
    yield "_pyexecd() {"
    yield "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= each"
    yield "    COMPREPLY=()"
    yield "    for each in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do"
    yield f"        case \" {' '.join(names)} \" in *\" $each \"*) command=$each; break ;; esac"
    yield "    done"
    yield "    case $command:$before in"
    for name, page in pages.items():
        yield from arguments(name, page)
    yield "    *) case $command:$word in"
    for name, page in pages.items():
        yield f"        {name}:-*) {reply(listed(spelling for option in page.options for spelling in option.spellings))} ;;"
    yield f"        :*) {reply(listed(names))} ;;"
    yield f"        {files}) compopt -o filenames; {reply('-f')} ;;"
    yield "        esac ;;"
    yield "    esac"
    yield "}"
    yield "complete -F _pyexecd pyexecd"


def zsh(pages):
    def plain(text):
        return re.sub(r"[][:\\]", "", text).replace("'", "'\\''")

    def argument(option):
        action = PATHS[option.argument][1] if option.argument in PATHS else f"({' '.join(option.words)})"
        return f":{option.argument.lower()}:{action}" if option.argument else ""

    def arguments(page):
        for option in page.options:
            yield from (f"'{spelling}[{plain(option.about)}]{argument(option)}'" for spelling in option.spellings)

    yield "#compdef pyexecd"
    yield "# Completes command lines of pyexecd in zsh."
    yield "_pyexecd() {"
    yield "    local context state state_descr line"
    yield "    typeset -A opt_args"
    yield f"    _arguments -C {' '.join(arguments(pages['']))} '1:command:->command' '*::argument:->argument'"
    yield "    case $state in"
    described = " ".join(f"'{name}:{plain(about)}'" for name, about in pages[""].commands)
    yield f"    command) local -a commands=({described}); _describe command commands ;;"
    yield "    argument) case $words[1] in"
    for name, page in pages.items():
        if name:
            operands = ["'*:file:_files'"] * page.takes_file
            yield f"        {name}) _arguments {' '.join([*arguments(page), *operands])} ;;"
    yield "        esac ;;"
    yield "    esac"
    yield "}"
    yield "_pyexecd \"$@\""


def fish(pages):
    def quoted(text):
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    names = " ".join(name for name, _ in pages[""].commands)
    yield "# Completes command lines of pyexecd in fish."
    yield "complete -c pyexecd -f"
    for name, about in pages[""].commands:
        yield f"complete -c pyexecd -n {quoted(f'not __fish_seen_subcommand_from {names}')} -a {name} -d {quoted(about)}"
    for name, page in pages.items():
        condition = quoted(f"__fish_seen_subcommand_from {name}" if name else f"not __fish_seen_subcommand_from {names}")
        if name and page.takes_file:
            yield f"complete -c pyexecd -n {condition} -F"
        for option in page.options:
            argument = f" -x -a {quoted(' '.join(option.words))}" if option.argument else ""
            if option.argument in PATHS:
                argument = f" {PATHS[option.argument][2]}"
            letter = f" -s {option.letter[1:]}" if option.letter else ""
            yield (f"complete -c pyexecd -n {condition}{letter} -l {option.name[2:]}{argument}"
                   f" -d {quoted(option.about)}")


def main():
    program, shell, output = sys.argv[1:]
    pages = {"": Page(program)}
    pages.update({name: Page(program, name) for name, _ in pages[""].commands})
    lines = {"bash": bash, "zsh": zsh, "fish": fish}[shell](pages)
    pathlib.Path(output).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
