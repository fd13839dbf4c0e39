'''
shows = "colours of a terminal"
reads = ['^exitcode: 0 ', 'passed']
next = '^3 failed'
agents = true
'''
print("\033[1;32m12 passed\033[0m")
print("\033[1;31m3 failed\033[0m")
