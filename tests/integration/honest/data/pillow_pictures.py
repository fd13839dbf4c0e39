"""Pillow, whose wheel brings libraries of its own: pictures in many formats, fonts, filters."""
from PIL import Image, ImageDraw, ImageFilter, ImageFont, features

picture = Image.new("RGB", (120, 80), "navy")
draw = ImageDraw.Draw(picture)
draw.ellipse((10, 10, 70, 70), fill="gold")
draw.text((60, 30), "größe", font=ImageFont.load_default(), fill="white")
for name in ("picture.png", "picture.jpg", "picture.webp", "picture.gif", "picture.tiff", "picture.bmp"):
    picture.save(name)
    with Image.open(name) as again:
        print(name, again.format, again.size)
print(picture.filter(ImageFilter.GaussianBlur(2)).resize((10, 10)).getpixel((3, 3)), features.check("jpg"))
print(picture.convert("L").histogram()[:20])
