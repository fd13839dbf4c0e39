"""importlib: modules and packages written by the script, reloaded, from text, with resources."""
import importlib
import importlib.resources
import importlib.util
import os
import pathlib
import runpy
import sys

pathlib.Path("package").mkdir()
pathlib.Path("package/__init__.py").write_text("from .part import NUMBER\n")
pathlib.Path("package/part.py").write_text("NUMBER = 1\n")
pathlib.Path("package/data.txt").write_text("resource")
sys.path.insert(0, os.getcwd())
importlib.invalidate_caches()
import package  # noqa: E402

print(package.NUMBER, importlib.resources.files("package").joinpath("data.txt").read_text())
pathlib.Path("package/part.py").write_text("NUMBER = 1000\n")
importlib.reload(sys.modules["package.part"])
print(sys.modules["package.part"].NUMBER)
specification = importlib.util.spec_from_file_location("other", "package/part.py")
module = importlib.util.module_from_spec(specification)
specification.loader.exec_module(module)
print(module.NUMBER, runpy.run_path("package/part.py")["NUMBER"])
exec(compile("print(__name__)", "<text>", "exec"), {"__name__": "text"})
for name in sorted(sys.builtin_module_names)[:3] + ["xml.dom", "email.mime.text", "lib2to3x", "zoneinfo"]:
    print(name, importlib.util.find_spec(name) is not None)
