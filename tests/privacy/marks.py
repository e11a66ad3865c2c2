"""The marked person. Other tests do not use these words, so each match comes from this person's data."""

#: Unique words, by the kind of personal data that they stand for.
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


def seen(text, endpoint=""):
    marks = MARKS | ({"push endpoint": endpoint} if endpoint else {})
    return {name for name, word in marks.items() if word.lower() in text.lower()}
