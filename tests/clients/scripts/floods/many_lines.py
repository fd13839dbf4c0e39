'''
shows = "200,000 lines"
reads = ['^row 0: 0$|Code output: row 0: 0', 'row 199999: ']
next = 'is in output\.txt'
agents = true
'''
for number in range(200000):
    print(f"row {number}: {number * number}")
