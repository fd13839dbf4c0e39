'''
shows = "an exit with a message"
reads = ['^exitcode: 1 ']
next = 'no input was given'
'''
import sys

if len(sys.argv) < 2:
    sys.exit("no input was given: pass a file name")
print(open(sys.argv[1]).read())
