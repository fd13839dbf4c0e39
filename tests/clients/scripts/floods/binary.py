'''
shows = "bytes that are no text"
reads = ['^exitcode: 0 ']
next = '36 more lines like these'
'''
import sys

sys.stdout.buffer.write(bytes(range(256)) * 20)
