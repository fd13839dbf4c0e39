'''
shows = "a module that no environment has"
reads = ['ModuleNotFoundError: No module named .gadget.']
next = 'pip_packages|environment_definition'
agents = true
'''
import gadget

print(gadget.VERSION)
