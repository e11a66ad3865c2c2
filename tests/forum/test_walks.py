"""A person in crisis: the help has the numbers of the province."""

from app.forum.service import crisis
from tests.forum.posts import write_reply, write_thread
from tests.helpers.factories import make_user
from tests.routes.requests import undone

#: For each province, and for people without one: the phone numbers that administrators have added, and the number that
#: the crisis help must show last.
PROVINCES = {
    "Aceh": ([("0651-118", "ambulance"), ("0651-34565", "hospital")], "0651-118"),
    "Bali": ([("0361-227911", "hospital"), ("0361-110", "police")], "0361-227911"),
    "Papua": ([("0967-110", "police"), ("0967-113", "fire"), ("0967-222", "other")], "119"),
    "DKI Jakarta": ([], "119"),
    "Maluku": ([("119", "ambulance"), ("0911-353118", "hospital")], "0911-353118"),
    None: ([], "119"),
    "Banten": ([("0254-1", "hospital"), ("0254-118", "ambulance"), ("0254-119", "ambulance")], "0254-118"),
}


def test_a_person_in_crisis_gets_the_help_numbers_of_their_province(client, budi, admin, subtests):
    thread_id = write_thread(budi)["id"]
    for province, (numbers, nearest) in PROVINCES.items():
        with subtests.test(province), undone():
            for phone, kind in numbers:
                number = {"province": province, "phone": phone, "kind": kind}
                assert admin.post("/emergency/admin", number).status_code == 201
            person = client.as_(make_user(domicile=province))
            # The crisis line is the first number. The numbers of police and fire brigade are not part of the help.
            reply = write_reply(person, thread_id, content="Saya capek hidup.")
            phones = [row["phone"] for row in reply["help"]["phones"]]
            assert phones == ["119 ext. 8", "112", nearest]
            assert reply["help"]["url"] == "https://www.healing119.id"
            # The help in the chat has the same numbers. The help for an emergency has the ambulance of the province.
            assert [line.split(":")[0] for line in crisis.help_lines(province).split("\n")[1:]] == phones
            ambulance = next((phone for phone, kind in numbers if kind == "ambulance" and phone != "119"), None)
            assert (f"Ambulans di {province}: {ambulance}" in crisis.emergency_lines(province)) is bool(ambulance)
            assert "telepon 119 sekarang" in crisis.emergency_lines(province)
