'''
shows = "code that was escaped twice"
reads = ['SyntaxError']
next = 'escaped twice'
agents = true
'''
import json\nprint(json.dumps({\"a\": 1}))\n