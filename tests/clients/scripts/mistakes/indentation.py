'''
shows = "lines that are not indented alike"
reads = ['^exitcode: 1 ']
next = '^IndentationError: unindent does not match'
'''
def area(width, height):
    size = width * height
   return size

print(area(2, 3))
