"""Addresses that another website may contain and that the service must not open."""

HOST = "ayosehat.kemkes.go.id"
HOSTILE = [
    "",
    "artikel",
    "/artikel",
    f"//{HOST}/artikel",
    f"http://{HOST}/artikel",  # http is allowed only if the configured site also uses http
    f"ftp://{HOST}/artikel",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "https://evil.example/artikel",
    f"https://{HOST}.evil.example/",
    f"https://evil-{HOST}/",
    f"https://evil.example/{HOST}",
    f"https://{HOST}@evil.example/",
    f"https://evil.example@{HOST}/",
    f"https://{HOST}:secret@evil.example/",
    f"https://evil.example\\@{HOST}/",
    f"https://{HOST}\\.evil.example/",
    f"https://evil.example#@{HOST}/",
    f"https://{HOST}%00.evil.example/",
    f"https://{HOST}%2eevil.example/",
    f"https://{HOST}:8443/",
    f"https://{HOST}:443443/",
    f"https://{HOST}./artikel",
    f"https://{HOST}\t.evil.example/",
    f"https://{HOST}/\r\nHost: evil.example",
    f"https://{HOST}\uff0eevil.example/",  # a full-width dot
    "https://ayosehat.kemkes.go.\u24d8d/",  # a circled letter
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://017700000001/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::1]/",
    "https://localhost/",
    "https://169.254.169.254/latest/meta-data/",
    f"https://{HOST}/" + "a" * 3000,
]
