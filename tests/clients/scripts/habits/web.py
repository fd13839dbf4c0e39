'''
shows = "a page is fetched"
reads = ['URLError|urlopen error|gaierror']
next = '(network|Name or service|name resolution|Connection refused)'
'''
import urllib.request

print(urllib.request.urlopen("http://example.invalid/", timeout=3).read()[:100])
