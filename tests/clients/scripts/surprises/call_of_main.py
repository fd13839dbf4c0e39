'''
shows = "a last line that calls a function"
reads = ['(?s)\A(?!.*expression)']
next = 'done'
agents = true
'''
def main():
    print("done")

main()
