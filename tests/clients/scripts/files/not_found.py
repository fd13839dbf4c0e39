'''
shows = "a file of the user that is not here"
reads = ['FileNotFoundError.*/mnt/data/report.csv']
next = '(director|empty|files? (here|there))'
agents = true
'''
import csv

with open("/mnt/data/report.csv") as file:
    for row in csv.DictReader(file):
        print(row)
