'''
shows = "an error while handling an error"
reads = ['^exitcode: 1 ', 'During handling of the above exception']
next = '^ValueError: bad row: .4;x.'
'''
rows = ["1;2", "4;x"]
for row in rows:
    try:
        print(sum(int(part) for part in row.split(";")))
    except ValueError:
        raise ValueError(f"bad row: {row!r}")
