"""Column comments that need no knowledge of the code."""

from __future__ import annotations

from alembic import op

revision = "0055"
down_revision = "0054"

COMMENTS = {
    "access_log.actor_id": "who read the data; null: a deleted account, or the operator",
    "access_log.actor_role": "role of the reader at that time; null: the operator, by a command",
    "access_log.day": "date in Jakarta of an access that is recorded once a day; null: recorded every time",
    "access_log.reason": "reason given by the reader, unchanged",
    "access_log.user_id": "whose data was read",
    "activity_logs.created_at": "when the service accepted the record",
    "activity_logs.event_id": "made when the service accepted the record; a record that is stored twice stays one row",
    "activity_logs.log": "user or admin: the route that received the record",
    "activity_logs.remote_ip": "IP address that the service saw",
    "activity_logs.user_id": "user of the access token; null without a valid token",
    "activity_logs.user_ip": "IP address that the client sent",
    "audit_entries.actor_id": "who acted; null: the operator, by a command. No foreign key: the account may be "
    "deleted later",
    "audit_entries.subject": "the object of the action, for example user:12 or export:users",
    "broadcast_pace.budget": "messages that may be sent until the next count, at most a minute later; null: unlimited",
    "broadcast_pace.pause_reason": "why the service paused broadcasts automatically",
    "broadcast_pace.resumed_at": "events before this time no longer cause an automatic pause",
    "broadcasts.about_id": "the announced object; each object is announced once",
    "broadcasts.cursor": "id of the last user of the latest page; the next page starts after this user",
    "broadcasts.except_user_id": "the author, who does not receive it",
    "broadcasts.kind": "type of the object in about_id: forum_thread, article or video",
    "broadcasts.preference_tag": "only people with this preference tag receive it; null: everybody",
    "broadcasts.starts_at": "start of the broadcast, including the random delay",
    "bulk_accesses.day": "date in Jakarta",
    "caregiver_alerts.due_at": "earliest time to send the alert",
    "caregiver_alerts.told_at": "when the alert was put into the outbox; alerts with the same time are in one message",
    "consents.ended_at": "when a later answer replaced this answer; null: still valid",
    "consents.version": "version of the consent text that the person agreed to",
    "crisis_phrases.words": "the phrase, normalised as posts are before they are compared with it",
    "data_exports.day": "date of the request in Jakarta; a person may request one export a day",
    "data_exports.file": "name in the storage area of exports, reserved before the file exists",
    "data_exports.next_try_at": "when the sweep enqueues the export job if the file is not ready",
    "data_exports.ready_at": "when the file became ready for download",
    "deliveries.about_id": "the object that the message is about; the delivery is cancelled with this object",
    "deliveries.about_type": "type of the object in about_id: reminder, patient, forum_thread, ...",
    "deliveries.deaths": "attempts whose worker stopped before it stored an outcome",
    "deliveries.dedupe_key": "unique for one effect, so that a repeated insert adds nothing",
    "deliveries.expires_at": "a delivery that is not sent by this time becomes missed",
    "deliveries.kind": "kind of message: password_reset, reminder, broadcast, ...",
    "deliveries.next_try_at": "no worker claims the delivery before this time; for a claimed delivery, the end of "
    "the lease",
    "deliveries.occurrence_id": "the occurrence of a reminder. No foreign key: occurrences are kept much longer than "
    "deliveries",
    "deliveries.payload": "small values for the template; never a person's own text",
    "deliveries.provider_state_ref": "message id in later receipts; null: the same as provider_ref",
    "deliveries.queue": "urgent or bulk: the RQ queue whose worker sends it",
    "deliveries.receipt": "accepted, sent, failed, delivered or read: the most advanced status from the provider",
    "deliveries.receipt_at": "time of the receipt, from the provider's clock",
    "deliveries.receipt_code": "the provider's error code of a failed receipt",
    "deliveries.said": "the text that was sent; stored in development only",
    "deliveries.sealed": "encrypted text that cannot be rendered again, such as a reset link; deleted with the final "
    "state",
    "deliveries.target": "E.164 number or push subscription id; null: chosen when it is sent",
    "deliveries.unknowns": "provider calls with an unknown outcome, including a call in progress",
    "emergency_numbers.url": "web page that offers the same help",
    "faskes.id": "identifier of the places provider, or one made by this service",
    "forum_blocks.id": "names the block in the list of own blocks, because blocked_id could reveal who uses a "
    "pseudonym",
    "forum_blocks.shown_as": "the author name that the post showed; null: blocked before this column existed",
    "forum_cases.appeal": "text of the author's appeal",
    "forum_cases.hidden_by": "reports or moderator, while the post is hidden; null while it is visible",
    "forum_cases.is_crisis": "true if the author was shown crisis help; reports never hide such a post",
    "forum_cases.is_urgent": "true if somebody may be in danger",
    "forum_cases.reason": "the moderator's reason for the latest decision",
    "forum_cases.reply_id": "the reported reply; null: the case is about the thread itself",
    "forum_cases.thread_id": "the reported thread, or the thread of the reported reply. No foreign key: the post may "
    "be deleted first",
    "forum_cases.title": "title, content and use_pseudonym are copies from when a moderator deleted the post",
    "forum_cases.unmasked_at": "when a moderator revealed the author behind the pseudonym",
    "forum_categories.preference_tag": "broadcasts about its threads go to people with this preference tag; null: to "
    "all",
    "forum_categories.threads_count": "visible threads; hidden threads do not count",
    "forum_replies.depth": "levels below the thread; 1 for a reply to the thread itself",
    "forum_replies.is_deleted": "true for a stub: a deleted reply that stays because it has replies",
    "forum_reports.kept_at": "when a moderator decided to keep the post and so rejected the report",
    "forum_threads.notice_due_at": "unused; forum_reply_notices stores this for each person",
    "forum_threads.notice_reply_id": "unused; forum_reply_notices stores this for each person",
    "forum_threads.replies_count": "visible replies; hidden replies and stubs of deleted replies do not count",
    "forum_threads.user_id": "the author; null after the author's account was deleted",
    "handovers.session_id": "the session that created the row; its end deletes the row. null: no session is known",
    "idempotency_keys.fingerprint": "SHA-256 of the request, to detect a key that is reused for another request",
    "idempotency_keys.status": "HTTP status of the stored response; null while the first request is still running",
    "inbound.event_key": "unique for one event, so that a repeated webhook call adds nothing",
    "inbound.outcome": "what the handler did; 'answered:...' if the service replied",
    "inbound.payload": "other values for the handler; never a person's own text",
    "inbound.phone": "E.164 number of the sender, or of the recipient whom a receipt is about",
    "inbound.ref": "the provider's id of the message that the event is about",
    "inbound.text": "text of the person's message; deleted after 30 days",
    "invitations.scopes": "what the caregiver will be allowed to do: alerts, history, manage",
    "invitations.session_id": "the session that created the row; its end deletes the row. null: no session is known",
    "login_networks.network_hash": "keyed hash of the address's network (/24 of IPv4, /64 of IPv6)",
    "notification_settings.quiet_start": "local time of the person; later than quiet_end if the quiet hours include "
    "midnight",
    "occurrences.day": "date of due_at in the reminder's time zone",
    "occurrences.due_at": "when the reminder is sent; for a visit, when the notice is sent",
    "occurrences.link_hash": "SHA-256 of the token in the link of its own message",
    "occurrences.shared_links": "SHA-256 of the tokens in the links of messages that list several occurrences",
    "occurrences.slot": "the dose, meal, session or lead time of the schedule",
    "occurrences.taken": "amount taken out of the stock for a dose that is done",
    "occurrences.timezone": "time zone of the date in day; null: stored before this column existed",
    "occurrences.undelivered": "true if no channel delivered the reminder; set when the occurrence becomes missed",
    "occurrences.undone_at": "when the latest answer was undone; answers given before this time are ignored",
    "own_pictures.bytes": "size in the media store, in bytes",
    "own_pictures.name": "name in the media store",
    "phone_moves.nomor_hp": "the number as the former owner had sent it",
    "phone_moves.nomor_hp_before": "the number that the new owner had before the move",
    "phone_moves.phone": "the number that moved, in E.164",
    "phone_moves.to_user_id": "the new owner; null: the move was undone",
    "phone_moves.verified_at": "phone_verified_at of the former owner",
    "phone_numbers.last_inbound_at": "when the owner last wrote to the service",
    "phone_numbers.probed_at": "when the single trial message was sent to a number that counts as invalid",
    "phone_numbers.refused_at": "since when the provider reports the number as unreachable; null: not reported, or "
    "reached since",
    "phone_numbers.stopped_at": "when its owner stopped reminders before a proof of the number; null: not stopped, "
    "or ended by MULAI",
    "phone_numbers.used_at": "date on which its owner last replied or received a message other than a verification "
    "code",
    "phone_numbers.wrong_at": "when its owner replied that the number does not belong to the addressed person",
    "phone_numbers.wrong_codes": "verification codes sent to the number since wrong_at",
    "phone_verifications.asked_at": "when the proven number was asked whether it moves to this account; null: not "
    "proven, or not asked",
    "phone_verifications.nomor_hp": "the phone number as the client sent it",
    "phone_verifications.session_id": "the session that created the row; its end deletes the row. null: no session "
    "is known",
    "province_configs.province": "name of a province, or `default`",
    "push_subscriptions.is_verified": "true if the subscription was made with the person's own token; false: the "
    "person is only claimed",
    "push_subscriptions.refusals": "consecutive refusals because of the VAPID keys",
    "push_subscriptions.session_id": "the session that created the row; its end deletes the row. null: no session is "
    "known",
    "reminders.active_from": "when the schedule was last changed; occurrences start after this time",
    "reminders.done_from": "start of that period: time of an occurrence that was done early; null: the period has "
    "already begun",
    "reminders.done_until": "end of the period in which the reminder counts as done: time of the next occurrence",
    "reminders.plan": "schedule in local times (app.pengingat.timetable.schedule)",
    "reminders.planned_until": "occurrences and deliveries are stored up to this time",
    "reminders.stock_check_at": "next check whether the medicine runs out; null: the stock is not counted",
    "reminders.stock_told": "smallest number of days left in the stock notices so far; null: no notice is valid any "
    "more",
    "reminders.timezone": "IANA name of the time zone",
    "reminders.waktu": "start as the client sent it; for obat the API shows the next dose instead",
    "saved_videos.thumbnail": "URL from the video platform",
    "saved_videos.video_id": "the video platform's id",
    "second_factors.confirmed_at": "when the person confirmed the factor; null: logins do not ask for a code yet",
    "second_factors.last_counter": "TOTP time step of the last accepted code; only codes of later steps are accepted",
    "second_factors.recovery_hashes": "keyed hashes of the unused recovery codes",
    "second_factors.secret": "TOTP secret, encrypted with AES-256-GCM like a NIK",
    "senders.checked_at": "when the provider last reported the state",
    "senders.held_since": "since when a disconnected phone may hold accepted messages back",
    "senders.limit_24h": "different recipients allowed in 24 hours; null: unlimited or unknown",
    "senders.needs_trial": "of a sender that is down: whether only an accepted message can show that it is up again",
    "senders.new_people": "new recipients on the date in warmup_on",
    "senders.number": "phone number id of WhatsApp, or MESSAGING_NUMBER of Fonnte; empty: the provider did not name it",
    "senders.quality": "WhatsApp's quality rating: green, yellow or red",
    "senders.quota": "prepaid messages that are left",
    "senders.reason": "the provider's explanation if the state is not up",
    "senders.since": "when the present state began",
    "senders.trial_at": "when one message may be sent to test a sender that is down",
    "senders.warmup_days": "good days so far of a new number; null: not a new number",
    "senders.warmup_on": "last date on which the new number wrote to new recipients",
    "sessions.device": "readable name of the device; null: the session began before names were stored",
    "sessions.expires_at": "set at login and refresh; shortened when the person becomes an administrator",
    "sessions.last_used_at": "time of the login or of the latest refresh",
    "tombstones.name": "keyed hash that identifies the erased person, with the name of the key",
    "tombstones.posts": "anonymise or delete: what happened to the person's posts",
    "users.erasure_due_at": "when the account and its data are deleted, unless a login cancels the erasure; null: no "
    "erasure requested",
    "users.erasure_posts": "anonymise or delete: what happens to the person's posts at the erasure",
    "users.guardian_id": "the caregiver who manages a dependent's account (app.identity.dependents); null: not a "
    "dependent",
    "users.nomor_hp": "the phone number as the client sent it",
    "users.password_hash": "null for a dependent, who cannot log in",
    "users.phone": "nomor_hp in E.164, for logins and messages",
    "users.phone_before": "the previous number in E.164; of several changes within a day, the number before the "
    "first change",
    "users.phone_changed_at": "when the person changed to this number; null: never changed",
    "users.phone_invalid_at": "when the messaging provider reported the number as invalid; cleared when the number "
    "changes",
    "users.phone_verified_at": "when the person proved the number; null: not proven since the last change",
    "users.preference_tags": "preferences as a flat list, for the filter of broadcasts",
    "users.preferences": "JSON as the client sent it",
    "users.self_registered": "true if the person created the account or took it over; then other administrators "
    "cannot set its password",
    "videos.duration": "ISO 8601 duration",
    "videos.thumbnail": "URL from the video platform",
    "videos.video_id": "the video platform's id",
}


def upgrade() -> None:
    for name, comment in COMMENTS.items():
        quoted = comment.replace("'", "''")
        op.execute(f"COMMENT ON COLUMN {name} IS '{quoted}'")


def downgrade() -> None:
    """Keep the comments. They are true for the previous version as well."""
