'''
shows = "200,000 lines"
reads = ['^row 0: 0$|Code output: row 0: 0', 'row 199999: ']
next = '(stdout|output)[\w.-]*\.(txt|log)|is in'
agents = true
'''
for number in range(200000):
    print(f"row {number}: {number * number}")
