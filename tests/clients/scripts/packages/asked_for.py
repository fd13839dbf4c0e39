'''
shows = "the package is named in the call"
reads = ['^exitcode: 0 ']
next = '^Code output: 1.0'
packages = ["gadget"]
'''
import gadget

print(gadget.VERSION)
