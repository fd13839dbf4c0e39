'''
shows = "bytes that are no text"
reads = ['^exitcode: 0 ']
next = '18 more lines like this'
'''
import sys

sys.stdout.buffer.write(bytes(range(256)) * 20)
