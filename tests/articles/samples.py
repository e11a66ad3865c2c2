"""Sample articles for tests: a new one, two to save, and the first one of the simulated ministry site."""

NEW = {"title": "Gizi Anak", "url": "https://contoh.id/gizi?utm_source=x#a", "content": "<p>Isi</p>"}
ONE = {"url": "https://contoh.id/satu", "title": "Satu"}
TWO = {"url": "https://contoh.id/dua", "title": "Dua"}


def first(sim):
    return sim.ministry.address(sim.ministry.articles[0])
