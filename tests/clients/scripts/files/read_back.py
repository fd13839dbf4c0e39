'''
shows = "the file of the call before"
reads = ['^exitcode: 0 ']
next = '^Code output: Roses are red'
'''
with open("poem.txt", "w") as file:
    file.write("Roses are red\n")
#%%
print(open("poem.txt").read())
