'''
shows = "dependencies in the script (PEP 723)"
reads = ['^exitcode: 0 ']
next = '^Code output: 1.0'
'''
# /// script
# dependencies = ["gadget"]
# ///
import gadget

print(gadget.VERSION)
