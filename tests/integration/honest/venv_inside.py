"""venv: an environment of the script's own, whose interpreter runs a module that lies in it."""
import os
import pathlib
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder, "venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    packages = next(place.glob("lib/python3*/site-packages"))
    (packages / "mine.py").write_text("NAME = 'mine'\n")
    code = "import mine, sys; print(mine.NAME, sys.prefix != sys.base_prefix)"
    print(subprocess.run([place / "bin/python", "-c", code], stdout=subprocess.PIPE).stdout)
    print(subprocess.run(f". {place}/bin/activate && command -v python", shell=True, text=True,
                         stdout=subprocess.PIPE).stdout.strip() == f"{place}/bin/python")
    print(sorted(name for name in os.listdir(place / "bin") if name.startswith("python"))[:2])
