'''
shows = "Python's own helper process still runs"
reads = ['(?s)\A(?!.*still ran)']
next = '9'
agents = true
'''
from multiprocessing import shared_memory

block = shared_memory.SharedMemory(create=True, size=9)
print(block.size >= 9 and 9)
block.close()
block.unlink()
