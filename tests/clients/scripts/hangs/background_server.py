'''
shows = "a server in the background, for the next call"
reads = ['^exitcode: 0 ']
next = '(ended|killed|still ran|background)'
'''
import subprocess
import sys

server = subprocess.Popen([sys.executable, "-m", "http.server", "0"])
print("started")
