'''
shows = "a report that is written to /tmp"
reads = ['saved']
next = 'Gone with this run: /tmp/report.csv'
agents = true
'''
with open("/tmp/report.csv", "w") as file:
    file.write("name,total\n")
print("saved")
