"""pandas: groups, joins, dates, missing values, pivots."""
import numpy
import pandas

frame = pandas.DataFrame({"day": pandas.date_range("2024-01-01", periods=60), "city": ["Bonn", "Ulm", "Hof"] * 20,
                          "price": numpy.random.default_rng(0).random(60).round(4)})
print(frame.groupby("city").price.agg(["mean", "count"]).round(4))
print(frame.set_index("day").resample("MS").price.sum().round(4))
print(frame.merge(pandas.DataFrame({"city": ["Ulm"], "land": ["BW"]}), how="left").land.isna().sum())
print(frame.pivot_table(index=frame.day.dt.month, columns="city", values="price").round(3))
print(frame.price.rolling(7).mean().iloc[-1].round(6), frame.describe().shape)
print(frame.day.dt.tz_localize("Europe/Berlin").dt.tz_convert("Asia/Tokyo").iloc[0])
