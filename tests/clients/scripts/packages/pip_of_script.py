'''
shows = "pip from within the script"
reads = ['externally-managed-environment|No module named pip']
next = 'pip_packages|environment_definition'
varies = true
'''
import subprocess
import sys

subprocess.check_call([sys.executable, "-m", "pip", "install", "gadget"])
