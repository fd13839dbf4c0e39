'''
shows = "a path of Windows"
reads = ['FileNotFoundError']
next = 'path of Windows'
agents = true
'''
print(open("C:\\Users\\me\\data.csv").read())
