"""A script that never stops to put code of its own where script.py is."""

WRONG = "666"  # what that code prints

CODE = f"""
import itertools, os

def attempt(act, *arguments):
    try:
        act(*arguments)
    except OSError:
        pass

print("ready", flush=True)
for number in itertools.count():
    with open("planted", "w") as file:
        file.write("print({WRONG})")
    attempt(os.rename, "planted", "script.py")
    attempt(os.link, "planted", "script.py")
    attempt(os.rename, "script.py", f"old{{number % 8}}.py")
    attempt(os.remove, "script.py")
    attempt(os.symlink, "planted", "script.py")
"""


def wrong_codes(run, count):
    """How many of COUNT calls of RUN with codes of their own ran another one."""
    outputs = [run(f"print({number})")["stdout"] for number in range(count)]
    return sum(output != f"{number}\n" for number, output in enumerate(outputs))
