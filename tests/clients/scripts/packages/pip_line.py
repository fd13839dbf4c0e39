'''
shows = "a line of a notebook that installs"
reads = ['gadget']
next = 'pip_packages|environment_definition|^Code output: 1.0'
agents = true
'''
!pip install gadget
import gadget

print(gadget.VERSION)
