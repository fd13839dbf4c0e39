'''
shows = "a page is fetched"
reads = ['URLError|urlopen error|gaierror']
next = '^urllib.error.URLError'
varies = true
'''
import urllib.request

print(urllib.request.urlopen("http://example.invalid/", timeout=3).read()[:100])
