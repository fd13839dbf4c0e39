'''
shows = "a web server, started to try it"
reads = ['timed out after 4 seconds', 'serving']
next = '`timeout` may be up to'
timeout = 4
varies = true
'''
import http.server

server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print("serving")
server.serve_forever()
