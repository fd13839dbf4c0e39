'''
shows = "a CSV file that pandas groups"
reads = ['^exitcode: 0 ', 'north +30']
next = 'south +20'
environment = "data"
timeout = 200
'''
import io
import pandas as pd

text = "region,sold\nnorth,10\nsouth,20\nnorth,20\n"
frame = pd.read_csv(io.StringIO(text))
print(frame.groupby("region")["sold"].sum())
