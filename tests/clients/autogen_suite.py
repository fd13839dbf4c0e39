"""A plugin of pytest that gives AutoGen's own tests our executors in place of its own.

    pytest -p autogen_suite TEST...
"""

import sys

import pyexecd.autogen

for name in ("local", "docker", "jupyter", "docker_jupyter"):
    sys.modules[f"autogen_ext.code_executors.{name}"] = pyexecd.autogen
