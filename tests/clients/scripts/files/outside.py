'''
shows = "a file where it may not be"
reads = ['PermissionError|Read-only']
next = '(Permission denied|Read-only file system).*/usr/share/notes'
'''
with open("/usr/share/notes.txt", "w") as file:
    file.write("remember")
