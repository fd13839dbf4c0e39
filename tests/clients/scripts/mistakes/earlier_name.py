'''
shows = "a variable of the call before"
reads = ['NameError: name .prices. is not defined']
next = '(fresh|anew|earlier call|not kept|new process)'
'''
prices = [3, 1, 2]
print(len(prices))
#%%
print(sum(prices))
