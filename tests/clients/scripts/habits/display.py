'''
shows = "display() of a notebook"
reads = ['NameError: name .display. is not defined']
next = 'notebooks'
'''
values = {"a": 1}
display(values)
