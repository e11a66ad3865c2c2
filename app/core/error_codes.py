"""Error codes, by which clients distinguish errors. The OpenAPI document lists all of them."""

from __future__ import annotations

_CODES = """
    already_closed article_exists author_gone bad_request cannot_snooze captcha_failed captcha_unavailable
    changed_meanwhile channel_needed conflict consent_withdrawn current_password_required email_taken faskes_taken
    forbidden gone has_dependents headers_too_large idempotency_mismatch image_too_large internal_error invalid_code
    invalid_json invalid_otp invalid_refresh_token invalid_text invalid_token invitation_needed kategori_in_use
    kategori_taken last_admin method_not_allowed not_an_image not_found not_hidden not_the_owner nothing_to_undo
    otp_active otp_required otp_setup_required own_account own_post payload_too_large phone_taken
    post_hidden provider_failed provider_not_configured provider_timeout province_not_found query_timeout
    request_timeout result_too_large role_in_use role_mismatch role_needed role_not_allowed role_not_editable
    role_taken route_not_found same_person service_unavailable session_ended sql_error stock_not_tracked
    subscription_verified superadmin_only superuser_role token_expired too_early
    too_many_dependents too_many_reminders too_many_requests unauthorized unknown_report unknown_table
    unsupported_media_type uri_too_long url_not_allowed username_taken validation_error value_out_of_range
    video_exists wrong_credentials wrong_current_password
"""

#: All error codes, sorted. A test compares them with the errors that services raise.
ERROR_CODES = _CODES.split()
