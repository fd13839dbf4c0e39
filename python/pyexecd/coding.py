"""The code executors of AutoGen 0.2, which AG2 has kept in `autogen.coding` (until 0.14), whose code runs in pyexecd.

    from pyexecd.coding import LocalCommandLineCodeExecutor

in place of `from autogen.coding import LocalCommandLineCodeExecutor` is all that a program changes; agents take the
object as `code_execution_config={"executor": executor}`. docs/autogen.md has every parameter, and the differences.
`settings` are as in pyexecd.autogen.
"""

import concurrent.futures
import os
import pathlib
import sys
import warnings

from autogen.coding import MarkdownCodeExtractor
from autogen.coding.base import CommandLineCodeResult, IPythonCodeResult

from . import blocks, functions
from .place import Place, write_file

__all__ = ["EmbeddedIPythonCodeExecutor", "LocalCommandLineCodeExecutor"]

# Whether blocks of a language are run; others are only saved.
POLICIES = {"python": True, "bash": True, "sh": True, "javascript": False, "html": False, "css": False}
LANGUAGES = {**blocks.LANGUAGES, "javascript": "javascript", "js": "javascript", "html": "html", "css": "css"}


class LocalCommandLineCodeExecutor:
    """Runs code blocks on this machine, in a sandbox where the machine has one.

    timeout: seconds for each block, at least 1. virtual_env_context: what venv.EnvBuilder.ensure_directories()
    returns. work_dir: made if it is missing. functions: what code may import from functions_module.
    execution_policies: by language, whether blocks are run or only saved. settings: keys of the environment. Raises
    ValueError for a wrong timeout or module.
    """

    FUNCTION_PROMPT_TEMPLATE = functions.PROMPT
    DEFAULT_EXECUTION_POLICY = POLICIES

    def __init__(self, timeout=60, virtual_env_context=None, work_dir=pathlib.Path("."), functions=(),
                 functions_module="functions", execution_policies=None, *, settings=None):
        if timeout < 1:
            raise ValueError("Timeout must be greater than or equal to 1.")
        if not functions_module.isidentifier():
            raise ValueError("Module name must be a valid Python identifier")
        self.timeout = timeout
        self.work_dir = pathlib.Path(work_dir)
        self.work_dir.mkdir(parents=True, exist_ok=True)
        self.functions_module = functions_module
        self.execution_policies = {**POLICIES, **(execution_policies or {})}
        self._functions = list(functions)
        self._loaded = not self._functions
        self._virtual_env_context = virtual_env_context
        self._settings = dict(settings or {})
        self._place = None

    @property
    def code_extractor(self):
        """Finds the blocks of a message."""
        return MarkdownCodeExtractor()

    @property
    def functions(self):
        """The functions of the program."""
        return self._functions

    def format_functions_for_prompt(self, prompt_template=FUNCTION_PROMPT_TEMPLATE):
        """What a model is told of the functions; `$module_name` and `$functions` stand for them."""
        return functions.prompt(self._functions, self.functions_module, prompt_template)

    def execute_code_blocks(self, code_blocks):
        """Runs CODE_BLOCKS in order, up to the first that fails. Raises ValueError if the functions of the
        program cannot be loaded."""
        if not self._loaded:
            self._load_functions()
        output, files, exit_code = "", [], 0
        for block in code_blocks:
            language = LANGUAGES.get(block.language.lower())
            if language is None:
                exit_code = 1
                output += f"\nunknown language {block.language.lower()}"
                break
            ended = blocks.ended(self._run(language, block.code))
            path = blocks.settle_file(self.work_dir, language, block.code, ended.file, keep=True).resolve()
            files.append(path)
            saved = ended.exit_code == 0 and not self.execution_policies[language]
            output += f"Code saved to {path}\n" if saved else ended.output
            exit_code = ended.exit_code
            if exit_code != 0:
                break
        return CommandLineCodeResult(exit_code=exit_code, output=output, code_file=str(files[0]) if files else None)

    def restart(self):
        """There is nothing that could be started again: each block has a process of its own."""
        warnings.warn("Restarting local command line code executor is not supported. No action is taken.",
                      stacklevel=2)

    def _run(self, language, code):
        if self._place is None:
            policies = {name: "run" if runs else "save" for name, runs in self.execution_policies.items()
                        if name in POLICIES}
            self._place = Place({**self._environment(), **self._settings}, self.work_dir, self.timeout, policies)
        return waited(self._place.run_block(language, code))

    def _environment(self):
        if self._virtual_env_context:
            path = str(pathlib.Path(os.path.abspath(self._virtual_env_context.env_exe)).parent.parent)
            return {"type": "venv", "venv_path": path, "write": [path], "network": True}
        packages = functions.packages(self._functions)
        if packages:
            return {"type": "venv", "python_path": sys.executable, "system_site_packages": True,
                    "pip_packages": packages, "network": True}
        return {"type": "system", "executable": sys.executable, "network": True}

    def _load_functions(self):
        code = functions.source(self._functions)
        write_file(self.work_dir / f"{self.functions_module}.py", code)
        loaded = blocks.ended(self._run("python", code))
        if loaded.exit_code != 0:
            raise ValueError(f"Functions failed to load: {loaded.output}")
        self._loaded = True


class EmbeddedIPythonCodeExecutor:
    """Runs code blocks as the cells of one session: what they define stays until restart().

    timeout: seconds for each block, at least 1. kernel_name: `python3`, as there is no other. output_dir: the
    directory that the cells run in, and in which they leave their files. settings: keys of the environment. Raises
    ValueError for another kernel or a wrong timeout.
    """

    def __init__(self, timeout=60, kernel_name="python3", output_dir=".", *, settings=None):
        if timeout < 1:
            raise ValueError("Timeout must be greater than or equal to 1.")
        if kernel_name != "python3":
            raise ValueError(f"Kernel {kernel_name} is not installed: sessions run Python")
        self.timeout = timeout
        self.kernel_name = kernel_name
        self.output_dir = str(output_dir)
        self._settings = dict(settings or {})
        self._place = None

    @property
    def code_extractor(self):
        """Finds the blocks of a message."""
        return MarkdownCodeExtractor()

    def execute_code_blocks(self, code_blocks):
        """Runs CODE_BLOCKS in order, up to the first that fails. The variables stay after a timeout."""
        outputs, files, exit_code = [], [], 0
        for block in code_blocks:
            result = self._run(block.code)
            whole = result.status in ("success", "failure") and not result.structured["truncated"]
            outputs += filter(None, [result.stdout, result.stderr] if whole else [result.text])
            files += [os.path.join(os.path.abspath(self.output_dir), file.path) for file in result.files
                      if file.mime_type.startswith(("image/", "text/html"))]
            exit_code = 1 if result.is_error else 0
            if result.is_error:
                break
        return IPythonCodeResult(exit_code=exit_code, output="\n".join(outputs), output_files=files)

    def restart(self):
        """The next block begins a new session."""
        if self._place is not None:
            self._place.close()
            self._place = None

    def _run(self, code):
        if self._place is None:
            environment = {"type": "system", "executable": sys.executable, "network": True, **self._settings}
            self._place = Place(environment, self.output_dir, self.timeout)
        return waited(self._place.run_cell(code))


def waited(future):
    """What FUTURE brings. Ctrl-C, and whatever else ends the waiting, cancels it."""
    try:
        return future.result()
    except BaseException:
        future.cancel()
        concurrent.futures.wait([future], timeout=10)
        raise
