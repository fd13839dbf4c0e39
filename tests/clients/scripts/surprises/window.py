'''
shows = "a window for a plot"
reads = ['No module named .tkinter|TclError']
next = 'There is no screen here'
environment = "data"
timeout = 200
agents = true
varies = true
'''
import matplotlib

matplotlib.use("TkAgg")
import matplotlib.pyplot as plt

plt.plot([1, 2])
plt.show()
