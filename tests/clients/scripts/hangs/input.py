'''
shows = "input()"
reads = ['EOFError']
next = '(stdin|input\(\)).*(empty|code|no)'
agents = true
'''
name = input("Your name: ")
print("Hello", name)
