"""The code executors of AutoGen 0.2, which AG2 has kept in `autogen.coding` (until 0.14), whose code runs in pyexecd.

    from pyexecd.coding import LocalCommandLineCodeExecutor

in place of `from autogen.coding import LocalCommandLineCodeExecutor` is all that a program changes, and so is
`from pyexecd.coding import ...` in place of `from autogen.coding.jupyter import ...`; agents take the
object as `code_execution_config={"executor": executor}`. After `pyexecd.coding.install()` AutoGen's names, such as
`{"executor": "commandline-local"}`, mean the classes of this module, too. docs/autogen.md has every parameter, and the
differences.
`settings` are as in pyexecd.autogen.
"""

from __future__ import annotations

import os
import pathlib
import sys
import uuid
import warnings
from types import SimpleNamespace
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Union

from autogen.coding.base import CodeBlock, CommandLineCodeResult
from autogen.coding.factory import CodeExecutorFactory

from . import blocks, containers, functions
from .coding_jupyter import (DockerJupyterServer, EmbeddedIPythonCodeExecutor, JupyterCodeExecutor,
                             LocalJupyterServer, waited)
from .cells import JupyterConnectionInfo
from .fences import FenceExtractor
from .place import Place, making, write_file

__all__ = ["DockerCommandLineCodeExecutor", "DockerJupyterServer", "EmbeddedIPythonCodeExecutor",
           "JupyterCodeExecutor", "JupyterConnectionInfo", "LocalCommandLineCodeExecutor", "LocalJupyterServer",
           "install"]

Directory = Union[pathlib.Path, str]
Settings = Optional[Mapping[str, Any]]
Policies = Optional[Mapping[str, bool]]

# Whether blocks of a language are run; others are only saved.
POLICIES = {"python": True, "bash": True, "sh": True, "javascript": False, "html": False, "css": False}
LANGUAGES = {**blocks.LANGUAGES, "javascript": "javascript", "js": "javascript", "html": "html", "css": "css"}


class CommandLineExecutor:
    """What the executors have in common that run each block in a fresh process."""

    DEFAULT_EXECUTION_POLICY: ClassVar[Dict[str, bool]] = POLICIES

    def __init__(self, timeout: int, work_dir: Directory, execution_policies: Policies, settings: Settings) -> None:
        if timeout < 1:
            raise ValueError("Timeout must be greater than or equal to 1.")
        self._timeout = timeout
        self._work_dir = pathlib.Path(work_dir)
        self._work_dir.mkdir(parents=True, exist_ok=True)
        given = {LANGUAGES.get(name.lower(), name): runs for name, runs in (execution_policies or {}).items()}
        self.execution_policies = {**POLICIES, **given}
        self._settings = dict(settings or {})
        self._place: Optional[Place] = None

    @property
    def timeout(self) -> int:
        """Seconds that each block may take."""
        return self._timeout

    @property
    def work_dir(self) -> pathlib.Path:
        """The directory that blocks run in."""
        return self._work_dir

    @property
    def code_extractor(self) -> FenceExtractor:
        """Finds the blocks of a message."""
        return FenceExtractor()

    def _environment(self) -> Dict[str, Any]:
        """The keys of the environment, without those of the settings."""
        raise NotImplementedError

    def _started_place(self) -> Place:
        with making:
            if self._place is None:
                policies = {name: "run" if runs else "save" for name, runs in self.execution_policies.items()
                            if name in POLICIES}
                self._place = Place({**self._environment(), **self._settings}, self.work_dir, self.timeout, policies)
            return self._place

    def execute_code_blocks(self, code_blocks: List[CodeBlock]) -> CommandLineCodeResult:
        """Runs CODE_BLOCKS in order, up to the first that fails."""
        output, exit_code = "", 0
        files: List[pathlib.Path] = []
        for block in code_blocks:
            language = LANGUAGES.get(block.language.lower())
            if language is None:
                exit_code = 1
                output += f"\nunknown language {block.language.lower()}"
                break
            code = blocks.quiet(language, block.code)
            ended = self._run(language, code)
            path = blocks.settle_file(self._started_place().directory, language, code, ended.file, keep=True)
            files.append(path)
            saved = ended.exit_code == 0 and not self.execution_policies[language]
            output += f"Code saved to {path}\n" if saved else ended.output
            exit_code = ended.exit_code
            if exit_code != 0:
                break
        return CommandLineCodeResult(exit_code=exit_code, output=output, code_file=str(files[0]) if files else None)

    def _run(self, language: str, code: str) -> blocks.Ended:
        return waited(blocks.run(self._started_place(), language, code))

    def _close(self) -> None:
        """Ends the server with all that it has started."""
        if self._place is not None:
            self._place.close()
            self._place = None


class LocalCommandLineCodeExecutor(CommandLineExecutor):
    """Runs code blocks on this machine, in a sandbox where the machine has one.

    timeout: seconds for each block, at least 1. virtual_env_context: what venv.EnvBuilder.ensure_directories()
    returns. work_dir: made if it is missing. functions: what code may import from functions_module.
    execution_policies: by language, whether blocks are run or only saved. settings: keys of the environment. Raises
    ValueError for a wrong timeout or module.
    """

    FUNCTION_PROMPT_TEMPLATE: ClassVar[str] = functions.PROMPT

    def __init__(self, timeout: int = 60, virtual_env_context: Optional[SimpleNamespace] = None,
                 work_dir: Directory = pathlib.Path("."), functions: Sequence[Any] = (),
                 functions_module: str = "functions", execution_policies: Policies = None, *,
                 settings: Settings = None) -> None:
        if not functions_module.isidentifier():
            raise ValueError("Module name must be a valid Python identifier")
        super().__init__(timeout, work_dir, execution_policies, settings)
        self.functions_module = functions_module
        self._functions = list(functions)
        self._loaded = not self._functions
        self._virtual_env_context = virtual_env_context

    @property
    def functions(self) -> List[Any]:
        """The functions of the program."""
        return self._functions

    def format_functions_for_prompt(self, prompt_template: str = FUNCTION_PROMPT_TEMPLATE) -> str:
        """What a model is told of the functions; `$module_name` and `$functions` stand for them."""
        return functions.prompt(self._functions, self.functions_module, prompt_template)

    def execute_code_blocks(self, code_blocks: List[CodeBlock]) -> CommandLineCodeResult:
        """Runs CODE_BLOCKS in order, up to the first that fails. Raises ValueError if the functions of the
        program cannot be loaded."""
        if not self._loaded:
            self._load_functions()
        return super().execute_code_blocks(code_blocks)

    def restart(self) -> None:
        """There is nothing that could be started again: each block has a process of its own."""
        warnings.warn("Restarting local command line code executor is not supported. No action is taken.",
                      stacklevel=2)

    def _environment(self) -> Dict[str, Any]:
        if self._virtual_env_context:
            path = str(pathlib.Path(os.path.abspath(self._virtual_env_context.env_exe)).parent.parent)
            return {"type": "venv", "venv_path": path, "write": [path], "network": True}
        packages = functions.packages(self._functions)
        if packages:
            return {"type": "venv", "python_path": sys.executable, "system_site_packages": True,
                    "pip_packages": packages, "network": True}
        return {"type": "system", "executable": sys.executable, "network": True}

    def _load_functions(self) -> None:
        code = functions.source(self._functions)
        write_file(self._started_place().directory / f"{self.functions_module}.py", code)
        loaded = self._run("python", code)
        if loaded.exit_code != 0:
            raise ValueError(f"Functions failed to load: {loaded.output}")
        self._loaded = True


class DockerCommandLineCodeExecutor(CommandLineExecutor):
    """Runs code blocks in one container, from the moment that the object is made until stop().

    The parameters are AutoGen's, and AG2's container_create_kwargs; docs/autogen.md says of each what it does here.
    Raises ValueError for what cannot be had: a timeout below 1, a bind_dir other than work_dir, stop_container=False,
    an argument of containers that no environment has; RuntimeError with the server's words without an engine or image.
    """

    def __init__(self, image: str = "python:3-slim", container_name: Optional[str] = None, timeout: int = 60,
                 work_dir: Optional[Directory] = None, bind_dir: Optional[Directory] = None, auto_remove: bool = True,
                 stop_container: bool = True, execution_policies: Policies = None, *,
                 container_create_kwargs: Optional[Mapping[str, Any]] = None, settings: Settings = None) -> None:
        work_dir = pathlib.Path(".") if work_dir is None else work_dir
        containers.check_directory(bind_dir, work_dir)
        containers.check_end(stop_container)
        super().__init__(timeout, work_dir, execution_policies, settings)
        self._container = {
            "type": "docker", "image": image, "keep_container_running": True, "network": "bridge",
            "container_name_prefix": f"{container_name or f'autogen-code-exec-{uuid.uuid4()}'}-",
            "cleanup_container": auto_remove, **containers.options(container_create_kwargs)}
        self._started_place().prepare()

    @property
    def bind_dir(self) -> pathlib.Path:
        """The directory that the container sees as /workspace."""
        return self.work_dir

    def _environment(self) -> Dict[str, Any]:
        return self._container

    def execute_code_blocks(self, code_blocks: List[CodeBlock]) -> CommandLineCodeResult:
        """Runs CODE_BLOCKS in order, up to the first that fails. Raises ValueError without any block."""
        if len(code_blocks) == 0:
            raise ValueError("No code blocks to execute.")
        return super().execute_code_blocks(code_blocks)

    def restart(self) -> None:
        """Ends the container, and starts a new one."""
        self._close()
        try:
            self._started_place().prepare()
        except BaseException:
            self._close()  # The next block begins anew.
            raise

    def stop(self) -> None:
        """Ends the container with all that runs in it."""
        self._close()

    def __enter__(self) -> DockerCommandLineCodeExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


# What AutoGen's names of executors mean after install(); the arguments stand in the configuration under the same name.
NAMED = {"commandline-local": LocalCommandLineCodeExecutor, "ipython-embedded": EmbeddedIPythonCodeExecutor}
_made_by_autogen = CodeExecutorFactory.create


def install() -> None:
    """From now on AutoGen makes executors of this module where a program names one of NAMED."""
    CodeExecutorFactory.create = staticmethod(_create)


def _create(code_execution_config: Dict[str, Any]) -> Any:
    """As AutoGen's function, with our classes for the names that they have."""
    executor = code_execution_config.get("executor")
    named = NAMED.get(executor) if isinstance(executor, str) else None
    return named(**code_execution_config.get(executor, {})) if named else _made_by_autogen(code_execution_config)
