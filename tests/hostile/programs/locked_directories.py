'''
tries = "to make its directory impossible to remove: nobody may read or write in it"
held_by = ["removal whatever the modes"]
[outcome]
any = "exit 0: locked"
'''
import os

os.makedirs("a/b/c")
open("a/b/c/file", "w").close()
for folder in ("a/b/c", "a/b", "a"):
    os.chmod(folder, 0)
print("locked")
