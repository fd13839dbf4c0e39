'''
shows = "await outside of a function"
reads = ['done|await']
next = 'done|asyncio'
agents = true
'''
import asyncio

await asyncio.sleep(0.01)
print("done")
