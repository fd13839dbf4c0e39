'''
shows = "a plot that the script saves"
reads = ['image/(png|jpeg)']
next = 'growth\.png'
environment = "data"
'''
import matplotlib.pyplot as plt

plt.plot([1, 2, 4, 8])
plt.title("Growth")
plt.savefig("growth.png")
print("saved")
