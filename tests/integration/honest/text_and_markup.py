"""re, difflib, string, textwrap, html, xml, email, configparser: documents are made and taken apart."""
import configparser
import difflib
import email
import email.message
import html.parser
import re
import textwrap
import xml.dom.minidom
import xml.etree.ElementTree as tree
import xml.sax

print(re.findall(r"(?P<name>\w+)@(\w+)\.org", "a@b.org, c@d.org"), re.sub(r"(\d+)", lambda m: str(int(m[1]) * 2), "3 and 4"))
print(*difflib.unified_diff(["a\n", "b\n"], ["a\n", "c\n"]), sep="")
print(textwrap.fill("the quick brown fox " * 4, 30), html.escape("<&>"))
root = tree.Element("list", kind="ä")
for number in range(3):
    tree.SubElement(root, "item").text = str(number)
tree.ElementTree(root).write("list.xml", encoding="utf-8", xml_declaration=True)
print([item.text for item in tree.parse("list.xml").iter("item")], xml.dom.minidom.parse("list.xml").toprettyxml()[:40])
message = email.message.EmailMessage()
message["Subject"] = "größe"
message.set_content("text\n")
print(email.message_from_bytes(message.as_bytes())["Subject"])
parser = configparser.ConfigParser()
parser.read_string("[a]\nkey = 1\nother = %(key)s2\n")
print(dict(parser["a"]))


class Links(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        print(tag, attributes)


Links().feed('<a href="/x">x</a><br>')
xml.sax.parseString(b"<a><b/></a>", xml.sax.ContentHandler())
