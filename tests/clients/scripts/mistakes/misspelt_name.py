'''
shows = "a misspelt name"
reads = ['^exitcode: 1 ']
next = 'Did you mean: .total.'
'''
total = 5
print(totl)
