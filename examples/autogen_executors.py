"""A program written for AutoGen's executors: blocks on this machine, blocks in a container, cells that share variables.

    pip install 'autogen-core<0.8' dist/pyexecd-*.whl
    python3 examples/autogen_executors.py [IMAGE]

The container takes a Docker engine; IMAGE is python:3-slim if none is given. Only the import of the executors is
another than with AutoGen's own.
"""

import asyncio
import sys

from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from pyexecd.autogen import DockerCommandLineCodeExecutor, JupyterCodeExecutor, LocalCommandLineCodeExecutor

BLOCKS = [("python", "print(sum(n * n for n in range(10)), file=open('sum', 'w'))"), ("sh", "cat sum"),
          ("bash", "echo before; exit 3")]
CELLS = [("python", "squares = [n * n for n in range(10)]"), ("python", "print(sum(squares))")]


async def tell(executor, blocks):
    async with executor:
        for language, code in blocks:
            block = CodeBlock(language=language, code=code)
            result = await executor.execute_code_blocks([block], CancellationToken())
            print(type(executor).__name__, language, result.exit_code, result.output.strip())


async def main():
    await tell(LocalCommandLineCodeExecutor(), BLOCKS)
    await tell(DockerCommandLineCodeExecutor(*sys.argv[1:]), BLOCKS)
    await tell(JupyterCodeExecutor(), CELLS)


asyncio.run(main())
