'''
shows = "a key that is not there"
reads = ['^exitcode: 1 ', 'File .script.py., line 2']
next = '^KeyError: .plum.'
'''
stock = {"apple": 3, "pear": 5}
print(stock["plum"])
