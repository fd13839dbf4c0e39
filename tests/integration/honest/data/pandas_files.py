"""pandas: CSV, compressed CSV, JSON, HTML, pickles and a data base."""
import sqlite3
import tempfile

import pandas

frame = pandas.DataFrame({"word": ["größe", "b"], "number": [1.5, None]})
frame.to_csv("frame.csv", index=False)
print(pandas.read_csv("frame.csv"))
frame.to_json("frame.json", orient="records")
print(pandas.read_json("frame.json").shape)
with tempfile.TemporaryDirectory() as folder:
    frame.to_csv(f"{folder}/frame.csv.gz", index=False)
    frame.to_pickle(f"{folder}/frame.pickle")
    print(pandas.read_csv(f"{folder}/frame.csv.gz").equals(frame), pandas.read_pickle(f"{folder}/frame.pickle").equals(frame))
with sqlite3.connect("frame.db") as base:
    frame.to_sql("frame", base, index=False)
    print(pandas.read_sql("select count(*) from frame", base).iloc[0, 0])
base.close()
print(frame.to_html()[:30], frame.to_string())
