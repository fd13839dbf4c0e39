'''
tries = "to make its working directory itself impossible to move or remove: nobody may read or write in it"
held_by = ["by design: modes are changed to remove a directory"]
[outcome]
any = "exit 0: locked"
'''
import os

os.chmod(".", 0)
print("locked")
