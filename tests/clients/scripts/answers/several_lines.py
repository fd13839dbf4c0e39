'''
shows = "a table by print"
reads = ['^exitcode: 0 ', '1 +1 +1$']
next = '^ +5 +25 +125$'
'''
for n in range(1, 6):
    print(f"{n:>3} {n**2:>4} {n**3:>5}")
