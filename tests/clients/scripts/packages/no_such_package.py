'''
shows = "the package is not in the index"
reads = ['gadgetry']
next = '(no such|not found|No matching|could not find|Could not find)'
packages = ["gadgetry"]
varies = true
'''
import gadgetry
