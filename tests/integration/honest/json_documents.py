"""json: documents with numbers, text in other scripts and errors; json.tool as a program."""
import json
import subprocess
import sys

document = {"name": "größe", "numbers": [1, 2.5, 1e100, -0.0], "nothing": None, "nested": {"list": list(range(5))}}
with open("document.json", "w", encoding="utf-8") as file:
    json.dump(document, file, ensure_ascii=False, indent=2)
with open("document.json", encoding="utf-8") as file:
    print(json.load(file) == document)
print(json.dumps(document, sort_keys=True, separators=(",", ":")))
try:
    json.loads('{"a": [1, 2,}')
except json.JSONDecodeError as error:
    print(error)
print(subprocess.run([sys.executable, "-m", "json.tool", "--compact"], input=b'{"b": 1}', stdout=subprocess.PIPE).stdout)
