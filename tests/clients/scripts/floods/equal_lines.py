'''
shows = "one line, again and again"
reads = ['spam']
next = '(times|more|equal|repeat)'
agents = true
'''
for _ in range(100000):
    print("spam")
