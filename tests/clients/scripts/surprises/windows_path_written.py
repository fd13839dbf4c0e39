'''
shows = "a file that is written to a path of Windows"
reads = ['saved']
next = 'with just that name'
agents = true
'''
with open("C:\\Users\\me\\out.csv", "w") as file:
    file.write("a,b\n")
print("saved")
