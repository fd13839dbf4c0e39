'''
shows = "a progress bar by carriage returns"
reads = ['^(Code output: )?downloaded 100 %']
next = '^done'
agents = true
'''
import sys

for percent in range(101):
    sys.stdout.write(f"\rdownloaded {percent} %")
    sys.stdout.flush()
print("\ndone")
