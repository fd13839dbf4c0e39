'''
shows = "display() of a notebook"
reads = ['NameError: name .display. is not defined']
next = 'NameError'
'''
values = {"a": 1}
display(values)
