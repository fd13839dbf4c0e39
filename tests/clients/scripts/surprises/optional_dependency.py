'''
shows = "pandas without an optional package"
reads = ['openpyxl']
next = '"pandas", "openpyxl"'
environment = "data"
timeout = 200
agents = true
varies = true
'''
import pandas

pandas.DataFrame({"a": [1]}).to_excel("a.xlsx")
