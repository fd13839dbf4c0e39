'''
shows = "the memory that a library believes in"
reads = ['True']
next = 'True'
agents = true
'''
lines = dict(line.split(":") for line in open("/proc/meminfo"))
print(int(lines["MemTotal"].split()[0]) < 3 * 2**20)
