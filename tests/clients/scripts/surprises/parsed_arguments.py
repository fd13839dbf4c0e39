'''
shows = "arguments that argparse requires"
reads = ['exitcode: 2']
next = 'parse_args\('
agents = true
'''
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("path")
print(parser.parse_args().path)
