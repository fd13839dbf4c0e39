'''
shows = "an exit status"
reads = ['exitcode: 3', 'checked']
next = 'exitcode: 3'
agents = true
'''
import sys

print("checked")
sys.exit(3)
