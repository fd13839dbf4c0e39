"""A plugin of pytest that gives AG2's own tests our executors in place of its own.

    pytest -p ag2_suite TEST...
"""

import sys

from autogen.coding.jupyter import import_utils

import pyexecd.coding

import_utils.is_jupyter_kernel_gateway_installed = lambda: True  # none is needed
for name in ("docker_commandline_code_executor", "jupyter", "jupyter.embedded_ipython_code_executor",
             "local_commandline_code_executor"):
    sys.modules[f"autogen.coding.{name}"] = pyexecd.coding
