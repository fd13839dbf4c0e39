'''
shows = "a data frame on the last line, as in a notebook"
reads = ['^exitcode: 0 ']
next = 'bare expression'
environment = "data"
timeout = 200
'''
import pandas as pd

frame = pd.DataFrame({"x": range(3), "y": [4, 5, 6]})
frame.describe()
