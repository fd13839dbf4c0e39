'''
shows = "a plot that the script saves"
reads = ['^\[image: image/png', 'Pictures shown below: ']
next = 'growth\.png'
environment = "data"
timeout = 200
varies = true
'''
import matplotlib.pyplot as plt

plt.plot([1, 2, 4, 8])
plt.title("Growth")
plt.savefig("growth.png")
print("saved")
