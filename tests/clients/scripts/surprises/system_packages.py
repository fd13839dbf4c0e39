'''
shows = "apt-get"
reads = ['CalledProcessError']
next = 'cannot install programs'
agents = true
varies = true
'''
import subprocess

subprocess.run(["apt-get", "install", "-y", "ffmpeg"], check=True)
