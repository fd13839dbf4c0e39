"""An executor of AutoGen's kind, as a program of AutoGen uses it.

    autogen_blocks.py CLASS OPTIONS [FILE] <steps

CLASS is one of pyexecd.autogen, OPTIONS are its arguments as JSON. A step is a line of JSON: a list of pairs of a
language and code. Prints a line of JSON for each. Where FILE is given, a step is cancelled, and the file removed,
as soon as it is there.
"""

import asyncio
import json
import pathlib
import sys

import pyexecd.autogen
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock


async def cancel_at(file, token):
    while not pathlib.Path(file).exists():
        await asyncio.sleep(0.05)
    pathlib.Path(file).unlink()
    token.cancel()


async def told(executor, step, files):
    """What the program sees of STEP."""
    token = CancellationToken()
    cancelling = [asyncio.create_task(cancel_at(file, token)) for file in files]
    blocks = [CodeBlock(code=code, language=language) for language, code in step]
    try:
        result = await executor.execute_code_blocks(blocks, token)
    except (ValueError, TimeoutError, asyncio.CancelledError) as error:
        return {"raised": type(error).__name__, "output": str(error)}
    finally:
        for task in cancelling:
            task.cancel()
    files = {"code_file": getattr(result, "code_file", None),
             "output_files": [str(path) for path in getattr(result, "output_files", [])]}
    return {"exit_code": result.exit_code, "output": result.output, **files}


async def main():
    name, options, *files = sys.argv[1:]
    async with getattr(pyexecd.autogen, name)(**json.loads(options)) as executor:
        for line in sys.stdin:
            print(json.dumps(await told(executor, json.loads(line), files)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
