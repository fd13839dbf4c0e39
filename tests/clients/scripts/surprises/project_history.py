'''
shows = "git log, far from the project"
reads = ['CalledProcessError']
next = 'not a project'
agents = true
varies = true
'''
import subprocess

print(subprocess.run(["git", "log", "-1"], check=True, capture_output=True, text=True).stdout)
