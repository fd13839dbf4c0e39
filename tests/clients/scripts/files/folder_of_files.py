'''
shows = "a folder of results, listed"
reads = ['out/a\.json']
next = 'out/b\.json'
agents = true
'''
import json
import os

os.makedirs("out", exist_ok=True)
for name in "ab":
    with open(f"out/{name}.json", "w") as file:
        json.dump({"name": name}, file)
print(sorted(os.listdir("out")))
