'''
shows = "a server in the background, for the next call"
reads = ['^exitcode: 0 ']
next = 'process of it still ran and was ended'
'''
import subprocess
import sys

server = subprocess.Popen([sys.executable, "-m", "http.server", "0"])
print("started")
