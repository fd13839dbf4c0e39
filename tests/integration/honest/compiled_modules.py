"""compileall, py_compile, dis and ast: what Python makes of modules."""
import ast
import compileall
import dis
import pathlib
import py_compile
import subprocess
import sys

if __name__ == "__main__":  # the workers load this file, too
    pathlib.Path("code").mkdir()
    for number in range(5):
        pathlib.Path(f"code/module{number}.py").write_text(f"def answer():\n    return {number}\n")
    print(compileall.compile_dir("code", quiet=1, workers=2,
                                 invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH))
    print(len(list(pathlib.Path("code/__pycache__").glob("*.pyc"))))
    print(subprocess.run([sys.executable, "-c", "import module3; print(module3.answer())"], cwd="code",
                         stdout=subprocess.PIPE).stdout)
    pathlib.Path("bad.py").write_text("def (:\n")
    print(compileall.compile_file("bad.py", quiet=2))
    print(ast.unparse(ast.parse("x  =  (1+2)")), len(list(dis.get_instructions("x = 1"))) > 0)
    for path in pathlib.Path("code").rglob("*.pyc"):
        path.unlink()  # has the path of its source in it
