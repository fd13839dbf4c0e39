'''
shows = "a coding line of another encoding"
reads = ['Grüße, 5 €']
next = 'Grüße'
agents = true
'''
# -*- coding: cp1252 -*-
print("Grüße, 5 €")
