"""The marked person: no other text of the suite holds these words, so where one turns up, it came from them."""

from __future__ import annotations

#: By what they say of the person.
MARKS = {
    "name": "Qwertyana",
    "username": "penandaqx",
    "e-mail": "surelqx",
    "phone": "81277660044",
    "NIK": "3273014502907788",
    "religion": "imanqx",
    "password": "SandiQx-7781",
    "new password": "SandiQx-9942",
    "pseudonym": "Samaranqx",
    "medicine": "Obatqx",
}

PERSON = {
    "username": MARKS["username"],
    "password": MARKS["password"],
    "nama_ktp": f"{MARKS['name']} Wulandari",
    "nama_samaran": MARKS["pseudonym"],
    "nomor_hp": f"0{MARKS['phone']}",
    "email": f"{MARKS['e-mail']}@contoh.id",
    "nik": MARKS["NIK"],
    "preferences": {"religion": [MARKS["religion"]], "medical": True},
    "domicile": "Jawa Barat",
}


def seen(text: str, endpoint: str = "") -> set[str]:
    """What a text tells of the person."""
    marks = MARKS | ({"push endpoint": endpoint} if endpoint else {})
    return {name for name, word in marks.items() if word.lower() in text.lower()}
