'''
shows = "a key in a variable of the user"
reads = ['KeyError']
next = 'set it in the code'
agents = true
'''
import os

print(os.environ["OPENAI_API_KEY"][:3])
