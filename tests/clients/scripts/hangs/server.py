'''
shows = "a web server, started to try it"
reads = ['timed out|timeout', 'serving']
next = 'line \d+|ended'
timeout = 1
'''
import http.server

server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print("serving")
server.serve_forever()
