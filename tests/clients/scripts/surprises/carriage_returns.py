'''
shows = "rows that end with carriage returns"
reads = ['^apple,3$', '^pear,5$']
next = 'apple'
agents = true
'''
print("name,qty\rapple,3\rpear,5\r")
