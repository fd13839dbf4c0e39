'''
shows = "a name that several projects have packages for"
reads = ['No module named .google']
next = '"PACKAGE"'
agents = true
'''
from google import nothing_like_it
