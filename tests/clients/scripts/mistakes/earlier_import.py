'''
shows = "an import of the call before"
reads = ['NameError: name .math. is not defined']
next = '(forget to import|fresh|anew|earlier call|not kept|new process)'
'''
import math
print(math.pi)
#%%
print(math.e)
