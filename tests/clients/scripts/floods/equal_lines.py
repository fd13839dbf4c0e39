'''
shows = "one line, again and again"
reads = ['spam']
next = '99999 more lines like this'
agents = true
'''
for _ in range(100000):
    print("spam")
