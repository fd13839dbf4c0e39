'''
shows = "a file is made"
reads = ['poem.txt']
next = 'poem\.txt \(\d+ bytes\)'
agents = true
'''
with open("poem.txt", "w") as file:
    file.write("Roses are red\n")
