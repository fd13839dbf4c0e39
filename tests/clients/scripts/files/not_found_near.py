'''
shows = "a file whose name is nearly right"
reads = ['FileNotFoundError']
next = '[Dd]id you mean.*sales_2024\.csv|sales_2024\.csv'
'''
with open("sales_2024.csv", "w") as file:
    file.write("month,sold\n1,3\n")
#%%
import csv

with open("sales.2024.csv") as file:
    print(list(csv.reader(file)))
