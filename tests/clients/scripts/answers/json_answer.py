'''
shows = "an answer as JSON"
reads = ['"mean": 3.5']
next = '"mean": 3.5'
'''
import json
import statistics

values = [1, 2, 3, 4, 5, 6]
print(json.dumps({"count": len(values), "mean": statistics.mean(values)}, indent=2))
