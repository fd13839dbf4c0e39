'''
shows = "a folder that is not there"
reads = ['^exitcode: 1 ']
next = 'FileNotFoundError: .*/workspace/output/notes.txt'
'''
with open("/workspace/output/notes.txt", "w") as file:
    file.write("remember")
