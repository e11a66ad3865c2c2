"""Table of all rate limits and quotas: those of routes, and those that services count."""

#: Rates of each limited route. Uploads have limits too, for all routes together.
ROUTE_LIMITS = {
    "POST /login": "10 per 5 minutes, 100 per hour, 60 per minute",
    "POST /superadmin/login": "10 per 5 minutes, 100 per hour, 20 per minute",
    "POST /register": "20 per minute; 200 per day",
    "POST /refresh": "120 per minute",
    "POST /auth/check-username": "60 per minute",
    "GET /send-verification-code": "10 per minute",
    "POST /update-password": "20 per minute",
    "PUT /profile": "10 per 5 minutes",
    "DELETE /profile": "10 per 5 minutes",
    "POST /profile/phone/verification": "10 per 5 minutes, 20 per hour",
    "DELETE /profile/phone": "10 per 5 minutes",
    "POST /profile/ekspor": "10 per 5 minutes",
    "POST /profile/otp": "10 per 5 minutes",
    "PUT /profile/otp": "10 per 5 minutes",
    "DELETE /profile/otp": "10 per 5 minutes",
    "POST /profile/otp/recovery-codes": "10 per 5 minutes",
    "POST /caregiver/patients": "100 per hour; 200 per day",
    "POST /patient/invitations": "20 per day",
    "POST /caregiver/invitations": "10 per 5 minutes; 50 per day",
    "POST /caregiver/dependents": "20 per day",
    "DELETE /caregiver/dependents/<int:dependent_id>": "10 per 5 minutes",
    "POST /pengingat": "60 per minute; 200 per day",
    "POST /pengingat/obat": "60 per minute; 200 per day",
    "PUT /pengingat/<int:pengingat_id>": "60 per minute; 200 per day",
    "DELETE /pengingat/<int:pengingat_id>": "60 per minute; 200 per day",
    "POST /pengingat/<int:pengingat_id>/konfirmasi": "60 per minute",
    "POST /pengingat/<int:pengingat_id>/persediaan": "60 per minute; 200 per day",
    "GET /pengingat/kepatuhan/laporan": "30 per hour",
    "POST /konfirmasi/<token>": "600 per minute, 60 per minute",
    "GET /faskes/nearby": "60 per minute",
    "GET /articles/detail": "60 per minute",
    "POST /articles/save": "120 per minute; 2000 per day",
    "GET /videoplatform/videos/<string:video_id>/detail": "60 per minute",
    "GET /videoplatform/channel/<string:channel_id>": "60 per minute",
    "GET /videoplatform/search": "30 per minute",
    "POST /videoplatform/save": "120 per minute; 2000 per day",
    "POST /forum/threads": "10 per minute; 60 per day",
    "POST /forum/threads/<int:thread_id>/reply": "30 per minute; 300 per day",
    "POST /forum/threads/<int:thread_id>/lapor": "20 per day",
    "POST /forum/threads/<int:thread_id>/banding": "20 per day",
    "POST /forum/replies/<int:reply_id>/lapor": "20 per day",
    "POST /forum/replies/<int:reply_id>/banding": "20 per day",
    "POST /push/send": "20 per minute, 60 per minute",
    "POST /push/subscribe": "60 per minute, 30 per hour",
    "DELETE /push/subscribe": "60 per minute",
    "PUT /admins/<int:user_id>": "10 per 5 minutes",
    "DELETE /admins/<int:user_id>/otp": "10 per 5 minutes",
}

#: Limits of services, each with the test that tries to bypass it. A key is file, function and value, as in the code.
SERVICE_LIMITS = {
    "accounts/resets.py send_link PER_HOUR": (
        "test_a_phone_number_in_any_spelling_can_request_five_reset_links_an_hour"
    ),
    "accounts/resets.py send_link PER_DAY": "test_a_phone_number_can_request_ten_reset_links_a_day",
    "accounts/service.py notify_of_change NEW_PASSWORDS": (
        "test_an_exhausted_password_limit_does_not_block_a_reset_by_link"
    ),
    "accounts/service.py check_may_change CONTACT_CHANGES": (
        "test_profile_changes_to_taken_numbers_and_emails_are_rate_limited"
    ),
    "caregivers/service.py create LINKED": "test_repeated_deletion_and_creation_of_a_link_is_rate_limited",
    "caregivers/service.py create UNINVITED": "test_a_fourth_uninvited_caregiver_of_a_day_is_refused",
    "pengingat/timetable/limits.py MAX_REMINDERS": "test_a_reminder_over_the_limit_of_a_person_is_refused",
    "pengingat/timetable/limits.py MAX_PER_DAY": "test_the_limit_of_a_day_is_the_sum_of_the_busiest_days",
    "inbox/limits.py MAX_PER_HOUR": "test_a_number_gets_only_so_many_answers_an_hour_and_a_day",
    "inbox/limits.py MAX_PER_DAY": "test_a_number_gets_only_so_many_answers_an_hour_and_a_day",
    "inbox/limits.py MAX_TALK_PER_HOUR": "test_a_number_gets_only_so_many_answers_an_hour_and_a_day",
    "inbox/limits.py MAX_TALK_PER_DAY": "test_a_number_gets_only_so_many_answers_an_hour_and_a_day",
    "logs/stream.py create f'{MAX_PER_MINUTE} per minute'": (
        "test_the_record_limit_of_a_person_covers_all_ip_addresses"
    ),
    "logs/stream.py create f'{MAX_PER_DAY} per day'": "test_a_record_above_5000_per_day_is_429",
    "config.py broadcast_per_minute": "test_the_rate_limit_is_shared_and_ends_the_drain",
    "config.py broadcast_per_day": "test_the_budget_is_the_limit_of_the_provider",
    "config.py broadcast_per_user_per_day": "test_a_person_gets_at_most_three_broadcasts_a_day",
    "push/service.py MAX_PER_USER": "test_unverified_subscriptions_do_not_replace_verified_ones",
    "config.py places_per_day": "test_searches_of_a_day_are_bounded_for_all_people_together",
}
