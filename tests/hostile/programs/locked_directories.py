'''
tries = "to make its directory impossible to remove: nobody may read or write in it"
held_by = ["by design: modes are changed to remove a directory"]
[outcome]
any = "exit 0: locked"
'''
import os

os.makedirs("a/b/c")
open("a/b/c/file", "w").close()
for folder in ("a/b/c", "a/b", "a"):
    os.chmod(folder, 0)
print("locked")
