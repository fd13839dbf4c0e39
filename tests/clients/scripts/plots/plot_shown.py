'''
shows = "a plot that the script shows"
reads = ['^\[image: image/png', 'Pictures shown below: ']
next = 'figure-1\.png'
environment = "data"
timeout = 200
varies = true
'''
import matplotlib.pyplot as plt

plt.plot([1, 2, 4, 8])
plt.show()
