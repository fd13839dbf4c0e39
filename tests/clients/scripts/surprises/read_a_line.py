'''
shows = "a line of standard input"
reads = ['IndexError']
next = 'Standard input is empty'
agents = true
'''
import sys

name = sys.stdin.readline()
print("Hello,", name.split()[0])
