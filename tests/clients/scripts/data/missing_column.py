'''
shows = "a column that is not there"
reads = ['^exitcode: 1 ']
next = '^KeyError: .Sold.'
environment = "data"
timeout = 200
'''
import pandas as pd

frame = pd.DataFrame({"region": ["north"], "sold": [10]})
print(frame["Sold"].sum())
