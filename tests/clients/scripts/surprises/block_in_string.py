'''
shows = "a block of PEP 723 in a string"
reads = ['42 True']
next = '42'
agents = true
'''
TEMPLATE = """
# /// script
# dependencies = ["no-such-package-anywhere"]
# ///
"""
print(42, len(TEMPLATE) > 0)
