'''
shows = "more memory than there may be"
reads = ['[Mm]emory']
next = 'memory.*[KMG]iB'
varies = true
'''
rows = []
while True:
    rows.append(bytearray(10**7))
