'''
shows = "bytes that are no text"
reads = ['^exitcode: 0 ']
next = '(bytes|characters|files?|left out|�)'
'''
import sys

sys.stdout.buffer.write(bytes(range(256)) * 20)
