'''
shows = "thirty files"
reads = ['part-00\.txt']
next = '(more|\.\.\.)'
'''
for number in range(30):
    with open(f"part-{number:02}.txt", "w") as file:
        file.write(str(number))
print("written")
