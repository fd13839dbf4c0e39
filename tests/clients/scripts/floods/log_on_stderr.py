'''
shows = "a log of 50,000 lines, the error at its end"
reads = ['DEBUG:root:step 0', '^ValueError: step 50000 is too much']
next = '^ValueError: step 50000 is too much'
'''
import logging

logging.basicConfig(level=logging.DEBUG)
for step in range(50000):
    logging.debug("step %d", step)
raise ValueError("step 50000 is too much")
