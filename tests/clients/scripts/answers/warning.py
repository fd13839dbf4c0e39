'''
shows = "a warning on stderr is no failure"
reads = ['^exitcode: 0 ', 'DeprecationWarning: old_way']
next = '^Code output: done'
'''
import warnings


def old_way():
    warnings.warn("old_way() is deprecated, use new_way()", DeprecationWarning, stacklevel=2)
    return 1


old_way()
print("done")
