'''
shows = "code in a Markdown fence"
reads = ['42']
next = '[Ff]ence|Markdown'
agents = true
'''
```python
print(6 * 7)
```
