'''
shows = "a calculation"
reads = ['^exitcode: 0 ']
next = '^Code output: 42$'
agents = true
'''
print(6 * 7)
