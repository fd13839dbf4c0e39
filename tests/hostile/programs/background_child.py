'''
tries = "to delay the answer by a child that keeps stdout open"
held_by = ["end with the script"]
limit = 15
[outcome]
any = "exit 0: left"
'''
import subprocess

subprocess.Popen(["sleep", "1000"])
print("left")
