'''
shows = "an argument of the command line"
reads = ['IndexError']
next = 'write the values into the code'
agents = true
'''
import sys

print("reading", sys.argv[1])
