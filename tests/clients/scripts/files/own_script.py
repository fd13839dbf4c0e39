'''
shows = "the script is to be changed"
reads = ['exitcode: 1']
next = 'script.py is the program that runs'
'''
with open("script.py", "w") as file:
    file.write("print('hello')")
