"""Table of all rate limits and quotas.

A row names what the limit protects, what it counts, and the test that tries to bypass the limit.
"""

from typing import NamedTuple


class Limit(NamedTuple):
    protects: str
    #: What one counter of the limit counts, for example the calls of one person.
    counts: str
    #: The test that tries to bypass the limit: file and name. The file is relative to `tests`.
    test: str


#: The test for all limits that count only the calls of a route.
GENERIC = "architecture/test_limits.py::test_a_route_whose_rate_limit_is_exceeded_returns_429"

_LOGIN = "accounts/test_limits.py::test_"
_STOLEN = "accounts/test_stolen_session.py::test_"

#: Rows of the table. The key is a limit: file, function and value as written in the code. Files are relative to `app`.
LIMITS = {
    # Limits on requests about accounts
    "accounts/routes.py login '10 per 5 minutes'": Limit(
        "passwords",
        "wrong guesses for an account from a network",
        f"{_LOGIN}login_limits_count_ipv4_by_24_bits_and_ipv6_by_64_bits",
    ),
    "accounts/routes.py login '100 per hour'": Limit(
        "passwords",
        "wrong guesses for an account",
        f"{_LOGIN}a_hundred_wrong_passwords_from_many_networks_block_the_account_for_an_hour",
    ),
    "accounts/routes.py login '60 per minute'": Limit("passwords of many accounts", "an address", GENERIC),
    "accounts/routes.py superadmin_login '10 per 5 minutes'": Limit(
        "passwords",
        "wrong guesses for an account from a network",
        f"{_LOGIN}superadmin_login_is_blocked_after_ten_wrong_passwords",
    ),
    "accounts/routes.py superadmin_login '100 per hour'": Limit(
        "passwords", "wrong guesses for an account", f"{_LOGIN}superadmin_login_is_blocked_after_ten_wrong_passwords"
    ),
    "accounts/routes.py superadmin_login '20 per minute'": Limit("passwords of many accounts", "an address", GENERIC),
    "accounts/routes.py register '20 per minute; 200 per day'": Limit(
        "accounts made by machines", "an address", GENERIC
    ),
    "accounts/routes.py refresh '120 per minute'": Limit(
        "refresh tokens",
        "an address",
        "accounts/test_limits.py::test_other_limits_count_an_ipv6_network_and_a_mapped_address_once",
    ),
    "accounts/routes.py check_username '60 per minute'": Limit("the list of usernames", "an address", GENERIC),
    "accounts/routes.py send_verification_code '10 per minute'": Limit("numbers of strangers", "an address", GENERIC),
    "accounts/resets.py send_link PER_HOUR": Limit(
        "the person's number from links",
        "a number, however it is written, also by the answer RESET",
        "accounts/test_limits.py::test_a_phone_number_in_any_spelling_can_request_five_reset_links_an_hour",
    ),
    "accounts/resets.py send_link PER_DAY": Limit(
        "the person's number from links",
        "a number, however it is written, also by the answer RESET",
        f"{_LOGIN}a_phone_number_can_request_ten_reset_links_a_day",
    ),
    "accounts/routes.py update_password '20 per minute'": Limit("codes of reset links", "an address", GENERIC),
    "accounts/routes.py create_phone_verification '20 per hour'": Limit("numbers of strangers", "a person", GENERIC),
    "accounts/otp_routes.py confirm_otp '10 per 5 minutes'": Limit("six digits", "a person's wrong digits", GENERIC),
    "accounts/service.py notify_of_change NEW_PASSWORDS": Limit(
        "the person's number from notices",
        "new passwords of a person, without a reset link",
        "accounts/test_new_passwords.py::test_an_exhausted_password_limit_does_not_block_a_reset_by_link",
    ),
    "accounts/service.py check_may_change CONTACT_CHANGES": Limit(
        "the list of numbers and e-mails",
        "numbers and e-mails that a person tries",
        f"{_STOLEN}profile_changes_to_taken_numbers_and_emails_are_rate_limited",
    ),
    "identity/own_password.py limit_own_password '10 per 5 minutes'": Limit(
        "the password from whoever has stolen a session",
        "a person's wrong passwords on all routes together",
        "personal_data/test_exports.py::test_wrong_passwords_are_counted_across_all_routes_that_require_one",
    ),
    # Limits on pictures
    "identity/upload_limits.py limit_uploads '20 per minute; 50 per day'": Limit(
        "processors and disks",
        "pictures of a person on all routes together",
        "identity/test_uploads.py::test_a_person_may_upload_twenty_pictures_a_minute_on_all_routes_together",
    ),
    "identity/upload_limits.py limit_admin_uploads '30 per minute'": Limit(
        "processors and disks",
        "pictures of an administrator",
        "identity/test_uploads.py::test_an_admin_may_upload_thirty_pictures_a_minute",
    ),
    # Limits on requests about caregivers
    "caregivers/routes.py create_link '100 per hour; 200 per day'": Limit(
        "patients who do not know the caregiver", "a caregiver", GENERIC
    ),
    "caregivers/routes.py create_dependent '20 per day'": Limit(
        "the database from accounts that are made and deleted", "a caregiver", GENERIC
    ),
    "caregivers/routes.py create_invitation '20 per day'": Limit(
        "the outbox of one's caregivers", "a patient", GENERIC
    ),
    "caregivers/routes.py redeem_invitation '10 per 5 minutes; 50 per day'": Limit(
        "codes of invitations",
        "wrong codes of a caregiver",
        "caregivers/test_invitations.py::test_guesses_of_the_code_are_rate_limited_after_ten",
    ),
    "caregivers/service.py create LINKED": Limit(
        "the patient from notices",
        "new links of one caregiver to one patient",
        "caregivers/test_notices.py::test_repeated_deletion_and_creation_of_a_link_is_rate_limited",
    ),
    "caregivers/service.py create UNINVITED": Limit(
        "the patient from messages in the words of strangers",
        "new caregivers a day whom the patient has not invited",
        "caregivers/test_notices.py::test_a_fourth_uninvited_caregiver_of_a_day_is_refused",
    ),
    # Limits on requests about reminders
    "pengingat/routes.py limit_answers '60 per minute'": Limit("the database", "answers of a person", GENERIC),
    "pengingat/routes.py limit_changes '60 per minute; 200 per day'": Limit(
        "the database",
        "changes by a person on all routes of reminders together",
        "pengingat/test_write_limits.py::test_creating_and_deleting_reminders_share_one_rate_limit",
    ),
    "pengingat/routes.py export_adherence '30 per hour'": Limit("processors", "a person", GENERIC),
    "pengingat/timetable/limits.py MAX_REMINDERS": Limit(
        "the database",
        "reminders of a person",
        "pengingat/test_limits.py::test_a_reminder_over_the_limit_of_a_person_is_refused",
    ),
    "pengingat/timetable/limits.py MAX_PER_DAY": Limit(
        "the person, and whoever has their number by mistake",
        "due times on the busiest day of each of a person's reminders",
        "pengingat/test_limits.py::test_the_limit_of_a_day_is_the_sum_of_the_busiest_days",
    ),
    "pengingat/one_tap/routes.py limit_answers '600 per minute'": Limit(
        "tokens of links",
        "an address, behind which thousands may answer",
        "pengingat/test_links.py::test_an_address_gets_600_link_pages_a_minute",
    ),
    "pengingat/one_tap/routes.py limit_answers '60 per minute'": Limit(
        "the ledger",
        "answers by one token",
        "pengingat/test_links.py::test_link_pages_are_rate_limited_by_token_and_refused_with_html",
    ),
    # Limits on how many texts a user may write
    "forum/routes.py create_thread '10 per minute; 60 per day'": Limit("readers", "an author", GENERIC),
    "forum/routes.py create_reply '30 per minute; 300 per day'": Limit("readers and authors", "an author", GENERIC),
    "forum/routes.py report '20 per day'": Limit(
        "authors and moderators",
        "reports of a person, of threads and replies together",
        "forum/test_reports.py::test_the_rate_limit_of_reports_is_20_for_each_person",
    ),
    "forum/routes.py appeal '20 per day'": Limit("moderators", "appeals of a person", GENERIC),
    "inbox/limits.py MAX_PER_HOUR": Limit(
        "the number, and the sender's reputation",
        "answers to what a number decides",
        "inbox/test_limits.py::test_concurrent_workers_do_not_exceed_the_reply_limit",
    ),
    "inbox/limits.py MAX_PER_DAY": Limit(
        "the number, and the sender's reputation",
        "answers to what a number decides",
        "inbox/test_limits.py::test_replies_to_commands_are_limited_to_sixty_per_day",
    ),
    "inbox/limits.py MAX_TALK_PER_HOUR": Limit(
        "the number, and the sender's reputation",
        "answers to a number that change nothing",
        "inbox/test_limits.py::test_a_reply_loop_with_an_automatic_responder_ends",
    ),
    "inbox/limits.py MAX_TALK_PER_DAY": Limit(
        "the number, and the sender's reputation",
        "answers to a number that change nothing",
        "inbox/test_limits.py::test_replies_to_small_talk_are_limited_to_ten_per_day",
    ),
    "logs/stream.py create f'{MAX_PER_MINUTE} per minute'": Limit(
        "the database",
        "records of a sender",
        "logs/test_limits.py::test_the_record_limit_of_a_person_covers_all_ip_addresses",
    ),
    "logs/stream.py create f'{MAX_PER_DAY} per day'": Limit(
        "the database", "records of a sender", "logs/test_limits.py::test_a_record_above_5000_per_day_is_429"
    ),
    # Limits on broadcasts
    "config.py broadcast_per_minute": Limit(
        "the sender's reputation",
        "broadcast messages to all people",
        "notifications/broadcasts/test_presend_checks.py::test_the_rate_limit_is_shared_and_ends_the_drain",
    ),
    "config.py broadcast_per_day": Limit(
        "the sender's reputation",
        "people who get messages in 24 hours, if the provider names no limit",
        "notifications/broadcasts/test_limits.py::test_the_budget_is_the_limit_of_the_provider",
    ),
    "config.py broadcast_per_user_per_day": Limit(
        "the person",
        "broadcast messages to a person, of all authors",
        "notifications/broadcasts/test_presend_checks.py::test_a_person_gets_at_most_three_broadcasts_a_day",
    ),
    # Limits on pushes
    "push/routes.py subscribe '60 per minute'": Limit("the database", "an address", GENERIC),
    "push/routes.py subscribe '30 per hour'": Limit(
        "people from browsers that only claim to be theirs",
        "claims for a person, from any address",
        "push/test_limits.py::test_unverified_subscriptions_of_a_person_are_limited_to_30_per_hour",
    ),
    "push/routes.py unsubscribe '60 per minute'": Limit("addresses of browsers", "an address", GENERIC),
    "push/routes.py send_push '20 per minute'": Limit(
        "the person",
        "pushes to a person, from any address",
        "push/test_limits.py::test_the_push_limit_of_a_person_ignores_the_spelling_of_the_id",
    ),
    "push/routes.py send_push '60 per minute'": Limit(
        "people", "an address", "push/test_limits.py::test_an_ip_address_sends_at_most_60_pushes_per_minute"
    ),
    "push/service.py MAX_PER_USER": Limit(
        "the outbox, and the person's own browsers",
        "browsers of a person, unproven ones last",
        "push/test_subscriptions.py::test_unverified_subscriptions_do_not_replace_verified_ones",
    ),
    # Limits on calls to providers, because these calls cost money or work
    "articles/routes.py get_live_article '60 per minute'": Limit("the ministry's site", "an address", GENERIC),
    "articles/routes.py save_article '120 per minute; 2000 per day'": Limit(
        "the database", "a person", "content/test_saved.py::test_saves_are_limited_for_each_person"
    ),
    "faskes/routes.py list_nearby_faskes '60 per minute'": Limit("the provider's bill", "an address", GENERIC),
    "config.py places_per_day": Limit(
        "the provider's bill",
        "searches of all people",
        "faskes/test_provider_bill.py::test_searches_of_a_day_are_bounded_for_all_people_together",
    ),
    "videos/routes.py get_live_video '60 per minute'": Limit("the platform's quota", "an address", GENERIC),
    "videos/routes.py list_channel '60 per minute'": Limit("the platform's quota", "an address", GENERIC),
    "videos/routes.py search_videos '30 per minute'": Limit("the platform's quota", "an address", GENERIC),
    "videos/routes.py save_video '120 per minute; 2000 per day'": Limit(
        "the database", "a person", "content/test_saved.py::test_saves_are_limited_for_each_person"
    ),
}
