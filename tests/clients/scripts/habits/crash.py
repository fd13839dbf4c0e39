'''
shows = "a crash of the interpreter"
reads = ['SIGSEGV|signal 11|Segmentation']
next = 'faulthandler'
'''
import ctypes

ctypes.string_at(0)
