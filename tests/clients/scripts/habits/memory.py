'''
shows = "more memory than there may be"
reads = ['[Mm]emory']
next = '512 MiB'
'''
rows = []
while True:
    rows.append(bytearray(10**7))
