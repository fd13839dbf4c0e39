'''
shows = "text beyond ASCII"
reads = ['Grüße, 世界']
next = 'Grüße, 世界'
agents = true
'''
words = ["Grüße", "世界"]
print(", ".join(words), "✓")
