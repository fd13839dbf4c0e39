'''
shows = "a plot that is neither saved nor shown"
reads = ['^\[image: image/png', 'Pictures shown below: ']
next = 'figure-1\.png'
environment = "data"
timeout = 200
varies = true
'''
import matplotlib.pyplot as plt

figure, axes = plt.subplots()
axes.bar(["a", "b"], [3, 5])
print("plotted")
