'''
shows = "code in a Markdown fence"
reads = ['42']
next = 'Markdown fence'
agents = true
'''
```python
print(6 * 7)
```
