"""The two calls of a model that writes a poem and reads it back, as the first result tells it to."""

import re

TEXT = "Roses are read,\nviolets are blue,\nfiles are kept,\nand handles are too."
WRITE = f"with open('poem.txt', 'w') as file:\n    file.write({TEXT!r})\n"
READ = "print(open('poem.txt').read())\n"
HANDLE = re.compile(r"\b[0-9a-f]{32}\b")


def read(text):
    """The arguments of the second call, when TEXT is the result of the first."""
    offered = HANDLE.search(text)
    return {"code": READ, **({"working_directory": offered.group()} if offered else {})}
