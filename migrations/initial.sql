-- The schema at revision 0064, as `pg_dump --schema-only` writes it. Later changes are migrations of their own.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE FUNCTION move_user_day() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE user_days SET users = users - 1 WHERE day = (OLD.created_at AT TIME ZONE 'Asia/Jakarta')::date;
    INSERT INTO user_days (day, users) VALUES ((NEW.created_at AT TIME ZONE 'Asia/Jakarta')::date, 1)
    ON CONFLICT (day) DO UPDATE SET users = user_days.users + 1;
    RETURN NULL;
END $$;

CREATE FUNCTION only_forget() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            IF (NEW.id, NEW.created_at, NEW.actor_id, NEW.action, NEW.subject)
                    IS DISTINCT FROM (OLD.id, OLD.created_at, OLD.actor_id, OLD.action, OLD.subject)
                OR (NEW.ip IS DISTINCT FROM OLD.ip AND (
                    NEW.ip IS NOT NULL
                    OR NOT EXISTS (SELECT FROM users WHERE id = OLD.actor_id AND erasure_due_at <= now())))
                OR (NEW.details <> OLD.details AND (
                    NEW.details <> '{}' OR OLD.action <> 'sql' OR OLD.created_at > now() - interval '30 days'))
            THEN
                RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
            END IF;
            RETURN NEW;
        END $$;

CREATE FUNCTION refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
        END $$;

CREATE FUNCTION tally_users() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM user_days;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        UPDATE user_days SET users = user_days.users - gone.users
        FROM (
            SELECT (created_at AT TIME ZONE 'Asia/Jakarta')::date AS day, count(*) AS users FROM before GROUP BY 1
        ) AS gone
        WHERE user_days.day = gone.day;
    END IF;
    IF TG_OP = 'INSERT' THEN
        INSERT INTO user_days (day, users)
        SELECT (created_at AT TIME ZONE 'Asia/Jakarta')::date, count(*) FROM after GROUP BY 1 ORDER BY 1
        ON CONFLICT (day) DO UPDATE SET users = user_days.users + excluded.users;
    END IF;
    RETURN NULL;
END $$;

CREATE TABLE access_log (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    actor_id bigint,
    actor_role text NOT NULL,
    action text NOT NULL,
    reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN access_log.user_id IS 'whose data was read';

COMMENT ON COLUMN access_log.actor_id IS 'who read the data; null: a deleted account';

COMMENT ON COLUMN access_log.actor_role IS 'role of the reader at that time';

COMMENT ON COLUMN access_log.reason IS 'reason given by the reader, unchanged';

CREATE SEQUENCE access_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE access_log_id_seq OWNED BY access_log.id;

CREATE TABLE activity_logs (
    id bigint NOT NULL,
    stream_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    log text NOT NULL,
    user_id bigint,
    event_type text,
    event_name text,
    screen_name text,
    activity_description text,
    session_id text,
    user_ip text,
    remote_ip text,
    user_agent text,
    extra jsonb DEFAULT '{}'::jsonb NOT NULL
);

COMMENT ON COLUMN activity_logs.stream_id IS 'id in the Redis stream; a record that is read twice stays one row';

COMMENT ON COLUMN activity_logs.created_at IS 'when the service accepted the record';

COMMENT ON COLUMN activity_logs.log IS 'user or admin: the route that received the record';

COMMENT ON COLUMN activity_logs.user_id IS 'user of the access token; null without a valid token';

COMMENT ON COLUMN activity_logs.user_ip IS 'IP address that the client sent';

COMMENT ON COLUMN activity_logs.remote_ip IS 'IP address that the service saw';

CREATE SEQUENCE activity_logs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE activity_logs_id_seq OWNED BY activity_logs.id;

CREATE TABLE articles (
    id bigint NOT NULL,
    title text NOT NULL,
    url text,
    content text NOT NULL,
    kategori_id bigint,
    image text,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN articles.url IS 'canonical, see app.core.lib.urls';

COMMENT ON COLUMN articles.content IS 'sanitised HTML';

COMMENT ON COLUMN articles.image IS 'name in the media store';

CREATE SEQUENCE articles_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE articles_id_seq OWNED BY articles.id;

CREATE TABLE audit_entries (
    id bigint NOT NULL,
    actor_id bigint,
    action text NOT NULL,
    subject text NOT NULL,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    ip text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN audit_entries.actor_id IS 'who acted; null: the operator, by a command. No foreign key: the account may be deleted later';

COMMENT ON COLUMN audit_entries.subject IS 'the object of the action, for example user:12 or export:users';

CREATE SEQUENCE audit_entries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE audit_entries_id_seq OWNED BY audit_entries.id;

CREATE TABLE blocks (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    blocked_id bigint NOT NULL,
    use_pseudonym boolean NOT NULL,
    shown_as text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN blocks.shown_as IS 'the author name that the post showed';

CREATE SEQUENCE blocks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE blocks_id_seq OWNED BY blocks.id;

CREATE TABLE broadcast_pauses (
    id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE broadcasts (
    id bigint NOT NULL,
    kind text NOT NULL,
    preference_tag text,
    except_user_id bigint,
    starts_at timestamp with time zone NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    cursor bigint DEFAULT 0 NOT NULL,
    recipients bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    about_id bigint NOT NULL
);

COMMENT ON COLUMN broadcasts.kind IS 'type of the object in about_id: forum_thread, article or video';

COMMENT ON COLUMN broadcasts.preference_tag IS 'only people with this preference tag receive it; null: everybody';

COMMENT ON COLUMN broadcasts.except_user_id IS 'the author, who does not receive it';

COMMENT ON COLUMN broadcasts.starts_at IS 'start of the broadcast, including the random delay';

COMMENT ON COLUMN broadcasts.cursor IS 'id of the last user of the latest page; the next page starts after this user';

COMMENT ON COLUMN broadcasts.about_id IS 'the announced object; each object is announced once';

CREATE SEQUENCE broadcasts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE broadcasts_id_seq OWNED BY broadcasts.id;

CREATE TABLE caregiver_cuts (
    patient_id bigint NOT NULL,
    caregiver_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE caregiver_links (
    id bigint NOT NULL,
    caregiver_id bigint NOT NULL,
    patient_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT ck_caregiver_links_two_people CHECK ((caregiver_id <> patient_id))
);

COMMENT ON COLUMN caregiver_links.scopes IS 'what the patient allows: alerts, history, manage';

CREATE SEQUENCE caregiver_links_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE caregiver_links_id_seq OWNED BY caregiver_links.id;

CREATE TABLE cases (
    id bigint NOT NULL,
    post_id bigint NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    is_urgent boolean DEFAULT false NOT NULL,
    is_crisis boolean DEFAULT false NOT NULL,
    reason text,
    decided_at timestamp with time zone,
    appeal text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN cases.is_urgent IS 'true if somebody may be in danger';

COMMENT ON COLUMN cases.is_crisis IS 'true if the author was shown crisis help; reports never hide such a post';

COMMENT ON COLUMN cases.reason IS 'the moderator''s reason for the latest decision';

COMMENT ON COLUMN cases.appeal IS 'the author''s appeal; null after a decision';

CREATE SEQUENCE cases_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE cases_id_seq OWNED BY cases.id;

CREATE TABLE consents (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    purpose text NOT NULL,
    granted boolean NOT NULL,
    version text NOT NULL,
    way text NOT NULL,
    ended_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN consents.version IS 'version of the consent text that the person agreed to';

COMMENT ON COLUMN consents.ended_at IS 'when a later answer replaced this answer; null: still valid';

CREATE SEQUENCE consents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE consents_id_seq OWNED BY consents.id;

CREATE TABLE data_exports (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    day date NOT NULL,
    file text NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    next_try_at timestamp with time zone NOT NULL,
    ready_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN data_exports.day IS 'date of the request in Jakarta; a person may request one export a day';

COMMENT ON COLUMN data_exports.file IS 'name in the storage area of exports, reserved before the file exists';

COMMENT ON COLUMN data_exports.next_try_at IS 'when the sweep enqueues the export job if the file is not ready';

COMMENT ON COLUMN data_exports.ready_at IS 'when the file became ready for download';

CREATE SEQUENCE data_exports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE data_exports_id_seq OWNED BY data_exports.id;

CREATE TABLE deliveries (
    id bigint NOT NULL,
    dedupe_key text NOT NULL,
    queue text NOT NULL,
    channel text NOT NULL,
    kind text NOT NULL,
    user_id bigint,
    target text,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    due_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    deaths integer DEFAULT 0 NOT NULL,
    next_try_at timestamp with time zone NOT NULL,
    claim_token uuid,
    settled_at timestamp with time zone,
    provider_ref text,
    last_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    unknowns integer DEFAULT 0 NOT NULL,
    said bigint[],
    link_hash text,
    receipt text,
    receipt_at timestamp with time zone,
    receipt_code text,
    sealed text
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');

COMMENT ON COLUMN deliveries.dedupe_key IS 'unique for one effect, so that a repeated insert adds nothing';

COMMENT ON COLUMN deliveries.queue IS 'urgent or bulk: the RQ queue whose worker sends it';

COMMENT ON COLUMN deliveries.kind IS 'kind of message: password_reset, reminder, broadcast, ...';

COMMENT ON COLUMN deliveries.target IS 'E.164 number or push subscription id; null: chosen when it is sent';

COMMENT ON COLUMN deliveries.payload IS 'small values for the template; never a person''s own text';

COMMENT ON COLUMN deliveries.expires_at IS 'a delivery that is not sent by this time becomes missed';

COMMENT ON COLUMN deliveries.deaths IS 'attempts whose worker stopped before it stored an outcome';

COMMENT ON COLUMN deliveries.next_try_at IS 'no worker claims the delivery before this time; for a claimed delivery, the end of the lease';

COMMENT ON COLUMN deliveries.unknowns IS 'provider calls with an unknown outcome, including a call in progress';

COMMENT ON COLUMN deliveries.said IS 'ids of the occurrences that the last call named, in the order of their numbers';

COMMENT ON COLUMN deliveries.link_hash IS 'SHA-256 of the token in its link or in its buttons';

COMMENT ON COLUMN deliveries.receipt IS 'accepted, sent, failed, delivered or read: the most advanced status from the provider';

COMMENT ON COLUMN deliveries.receipt_at IS 'time of the receipt, from the provider''s clock';

COMMENT ON COLUMN deliveries.receipt_code IS 'the provider''s error code of a failed receipt';

COMMENT ON COLUMN deliveries.sealed IS 'encrypted text that cannot be rendered again, such as a reset link; deleted with the final state';

CREATE SEQUENCE deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE deliveries_id_seq OWNED BY deliveries.id;

CREATE TABLE dokter (
    id bigint NOT NULL,
    nama text NOT NULL,
    spesialisasi text,
    telepon text,
    image text,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN dokter.image IS 'name in the media store';

CREATE TABLE dokter_faskes (
    dokter_id bigint NOT NULL,
    faskes_id text NOT NULL
);

CREATE SEQUENCE dokter_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE dokter_id_seq OWNED BY dokter.id;

CREATE TABLE emergency_numbers (
    id bigint NOT NULL,
    province text NOT NULL,
    phone text NOT NULL,
    title text,
    url text,
    kind text DEFAULT 'other'::text NOT NULL
);

COMMENT ON COLUMN emergency_numbers.url IS 'web page that offers the same help';

CREATE SEQUENCE emergency_numbers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE emergency_numbers_id_seq OWNED BY emergency_numbers.id;

CREATE TABLE faskes (
    id text NOT NULL,
    nama text NOT NULL,
    alamat text,
    lat double precision NOT NULL,
    lng double precision NOT NULL,
    jenis text,
    telepon text,
    province text,
    rating double precision,
    source text DEFAULT 'db'::text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_faskes_position CHECK (((lat >= ('-90'::integer)::double precision) AND (lat <= (90)::double precision) AND ((lng >= ('-180'::integer)::double precision) AND (lng <= (180)::double precision)))),
    CONSTRAINT ck_faskes_source CHECK ((source = ANY (ARRAY['db'::text, 'places'::text])))
);

COMMENT ON COLUMN faskes.id IS 'identifier of the places provider, or one made by this service';

CREATE TABLE forum_categories (
    id bigint NOT NULL,
    name text NOT NULL,
    preference_tag text,
    threads_count integer DEFAULT 0 NOT NULL
);

COMMENT ON COLUMN forum_categories.preference_tag IS 'broadcasts about its threads go to people with this preference tag; null: to all';

COMMENT ON COLUMN forum_categories.threads_count IS 'visible threads; hidden threads do not count';

CREATE SEQUENCE forum_categories_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE forum_categories_id_seq OWNED BY forum_categories.id;

CREATE TABLE idempotency_keys (
    user_id bigint NOT NULL,
    endpoint character varying(120) NOT NULL,
    key character varying(64) NOT NULL,
    fingerprint bytea NOT NULL,
    status smallint,
    body bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN idempotency_keys.fingerprint IS 'SHA-256 of the request, to detect a key that is reused for another request';

COMMENT ON COLUMN idempotency_keys.status IS 'HTTP status of the stored response; null while the first request is still running';

CREATE TABLE inbound (
    id bigint NOT NULL,
    provider text NOT NULL,
    event_key text NOT NULL,
    kind text NOT NULL,
    phone text,
    text text,
    ref text,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    handled_at timestamp with time zone,
    outcome text,
    CONSTRAINT ck_inbound_text_is_short CHECK ((length(text) <= 1000))
);

COMMENT ON COLUMN inbound.event_key IS 'unique for one event, so that a repeated webhook call adds nothing';

COMMENT ON COLUMN inbound.phone IS 'E.164 number of the sender, or of the recipient whom a receipt is about';

COMMENT ON COLUMN inbound.text IS 'text of the person''s message; deleted after 30 days';

COMMENT ON COLUMN inbound.ref IS 'the provider''s id of the message that the event is about';

COMMENT ON COLUMN inbound.payload IS 'other values for the handler; never a person''s own text';

COMMENT ON COLUMN inbound.outcome IS 'what the handler did; ''answered:...'' if the service replied';

CREATE SEQUENCE inbound_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE inbound_id_seq OWNED BY inbound.id;

CREATE TABLE invitations (
    id bigint NOT NULL,
    patient_id bigint NOT NULL,
    code_hash text NOT NULL,
    scopes text[] NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    session_id uuid
);

COMMENT ON COLUMN invitations.scopes IS 'what the caregiver will be allowed to do: alerts, history, manage';

COMMENT ON COLUMN invitations.session_id IS 'the session that created the row; its end deletes the row. null: no session is known';

CREATE SEQUENCE invitations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE invitations_id_seq OWNED BY invitations.id;

CREATE TABLE kategori (
    id bigint NOT NULL,
    nama_kategori text NOT NULL
);

CREATE SEQUENCE kategori_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE kategori_id_seq OWNED BY kategori.id;

CREATE TABLE komunitas (
    id bigint NOT NULL,
    nama text NOT NULL,
    deskripsi text,
    kategori_id bigint,
    link text,
    kontak text,
    province text,
    image text,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN komunitas.image IS 'name in the media store';

CREATE SEQUENCE komunitas_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE komunitas_id_seq OWNED BY komunitas.id;

CREATE TABLE log_day_users (
    day date NOT NULL,
    user_id bigint NOT NULL
);

CREATE TABLE log_days (
    day date NOT NULL,
    events bigint DEFAULT 0 NOT NULL,
    active_users bigint DEFAULT 0 NOT NULL
);

CREATE TABLE marks (
    post_id bigint NOT NULL,
    user_id bigint NOT NULL,
    is_liked boolean DEFAULT false NOT NULL,
    is_saved boolean DEFAULT false NOT NULL
);

CREATE TABLE notification_settings (
    user_id bigint NOT NULL,
    messages boolean DEFAULT true NOT NULL,
    push boolean DEFAULT true NOT NULL,
    quiet_start time without time zone,
    quiet_end time without time zone,
    CONSTRAINT ck_notification_settings_quiet_hours_have_two_ends CHECK (((quiet_start IS NULL) = (quiet_end IS NULL)))
);

COMMENT ON COLUMN notification_settings.quiet_start IS 'local time of the person; later than quiet_end if the quiet hours include midnight';

CREATE TABLE occurrences (
    id bigint NOT NULL,
    reminder_id bigint,
    user_id bigint NOT NULL,
    tipe text NOT NULL,
    judul text NOT NULL,
    slot text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    day date NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    answered_at timestamp with time zone,
    answered_via text,
    snoozed_until timestamp with time zone,
    snoozes smallint DEFAULT 0 NOT NULL,
    undelivered boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    taken double precision,
    timezone text,
    undone_at timestamp with time zone,
    recorded_at timestamp with time zone
);

COMMENT ON COLUMN occurrences.slot IS 'the dose, meal, session or lead time of the schedule';

COMMENT ON COLUMN occurrences.due_at IS 'when the reminder is sent; for a visit, when the notice is sent';

COMMENT ON COLUMN occurrences.day IS 'date of due_at in the reminder''s time zone';

COMMENT ON COLUMN occurrences.undelivered IS 'true if no channel delivered the reminder; set when the occurrence becomes missed';

COMMENT ON COLUMN occurrences.taken IS 'amount taken out of the stock for a dose that is done';

COMMENT ON COLUMN occurrences.timezone IS 'time zone of the date in day; null: stored before this column existed';

COMMENT ON COLUMN occurrences.undone_at IS 'when the latest answer was undone; answers given before this time are ignored';

COMMENT ON COLUMN occurrences.recorded_at IS 'when the latest answer came, after answered_at if it was given offline; null: at answered_at';

CREATE SEQUENCE occurrences_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE occurrences_id_seq OWNED BY occurrences.id;

CREATE TABLE own_pictures (
    name text NOT NULL,
    user_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN own_pictures.name IS 'name in the media store';

CREATE TABLE password_resets (
    user_id bigint NOT NULL,
    token_hash text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

COMMENT ON COLUMN password_resets.token_hash IS 'SHA-256 of the code in the link';

CREATE TABLE phone_numbers (
    phone text NOT NULL,
    last_inbound_at timestamp with time zone,
    refused_at timestamp with time zone,
    wrong_at timestamp with time zone,
    used_at timestamp with time zone
);

COMMENT ON COLUMN phone_numbers.phone IS 'E.164';

COMMENT ON COLUMN phone_numbers.last_inbound_at IS 'when the owner last wrote to the service';

COMMENT ON COLUMN phone_numbers.refused_at IS 'since when the provider reports the number as unreachable; null: not reported, or reached since';

COMMENT ON COLUMN phone_numbers.wrong_at IS 'when its owner replied that the number does not belong to the addressed person';

COMMENT ON COLUMN phone_numbers.used_at IS 'when its owner last replied or received a message';

CREATE TABLE phone_verifications (
    user_id bigint NOT NULL,
    nomor_hp text NOT NULL,
    phone text NOT NULL,
    code_hash text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    session_id uuid
);

COMMENT ON COLUMN phone_verifications.nomor_hp IS 'the phone number as the client sent it';

COMMENT ON COLUMN phone_verifications.phone IS 'nomor_hp in E.164';

COMMENT ON COLUMN phone_verifications.session_id IS 'the session that created the row; its end deletes the row. null: no session is known';

CREATE TABLE posts (
    id bigint NOT NULL,
    root_id bigint,
    parent_id bigint,
    depth smallint DEFAULT 0 NOT NULL,
    category_id bigint,
    user_id bigint,
    title text,
    content text,
    use_pseudonym boolean DEFAULT false NOT NULL,
    image text,
    hidden_by text,
    likes_count integer DEFAULT 0 NOT NULL,
    saves_count integer DEFAULT 0 NOT NULL,
    replies_count integer DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_posts_depth CHECK (((depth >= 0) AND (depth <= 20))),
    CONSTRAINT ck_posts_thread CHECK (((root_id IS NULL) = ((title IS NOT NULL) AND (category_id IS NOT NULL))))
)
WITH (fillfactor='90');

COMMENT ON COLUMN posts.root_id IS 'the thread of a reply; null: the post is a thread';

COMMENT ON COLUMN posts.parent_id IS 'the reply above; null: a thread, or a reply to the thread';

COMMENT ON COLUMN posts.depth IS 'levels below the thread; 0 for a thread';

COMMENT ON COLUMN posts.category_id IS 'null for a reply';

COMMENT ON COLUMN posts.user_id IS 'the author; null: a stub, or a deleted account';

COMMENT ON COLUMN posts.title IS 'null for a reply';

COMMENT ON COLUMN posts.content IS 'null on a stub';

COMMENT ON COLUMN posts.image IS 'name in the media store';

COMMENT ON COLUMN posts.hidden_by IS 'reports or moderator; null: everybody sees the post';

COMMENT ON COLUMN posts.replies_count IS 'visible replies of a thread; hidden replies and stubs do not count';

CREATE SEQUENCE posts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE posts_id_seq OWNED BY posts.id;

CREATE TABLE province_configs (
    province text NOT NULL,
    sections jsonb NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN province_configs.province IS 'name of a province, or `default`';

COMMENT ON COLUMN province_configs.sections IS '[{id, enabled, order}]';

CREATE TABLE push_subscriptions (
    id bigint NOT NULL,
    endpoint text NOT NULL,
    p256dh text NOT NULL,
    auth text NOT NULL,
    user_id bigint,
    is_verified boolean DEFAULT false NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    session_id uuid
);

COMMENT ON COLUMN push_subscriptions.p256dh IS 'the browser''s public key, base64url';

COMMENT ON COLUMN push_subscriptions.auth IS 'the browser''s shared secret, base64url';

COMMENT ON COLUMN push_subscriptions.is_verified IS 'true if the subscription was made with the person''s own token; false: the person is only claimed';

COMMENT ON COLUMN push_subscriptions.session_id IS 'the session that created the row; its end deletes the row. null: no session is known';

CREATE SEQUENCE push_subscriptions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE push_subscriptions_id_seq OWNED BY push_subscriptions.id;

CREATE TABLE reminders (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    tipe text NOT NULL,
    judul text NOT NULL,
    waktu timestamp with time zone NOT NULL,
    timezone text NOT NULL,
    details jsonb NOT NULL,
    active_from timestamp with time zone NOT NULL,
    planned_until timestamp with time zone NOT NULL,
    is_finished boolean DEFAULT false NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    stock_told boolean DEFAULT false NOT NULL
);

COMMENT ON COLUMN reminders.waktu IS 'start as the client sent it; for obat the API shows the next dose instead';

COMMENT ON COLUMN reminders.timezone IS 'IANA name of the time zone';

COMMENT ON COLUMN reminders.details IS 'as the client sent them, with a wall time next to each jam';

COMMENT ON COLUMN reminders.active_from IS 'when the schedule was last changed; occurrences start after this time';

COMMENT ON COLUMN reminders.planned_until IS 'occurrences and deliveries are stored up to this time';

COMMENT ON COLUMN reminders.is_finished IS 'true if PUT `is_done` ended a reminder that does not repeat';

COMMENT ON COLUMN reminders.stock_told IS 'true if a notice was created because the medicine runs out, and the stock was not enough since';

CREATE SEQUENCE reminders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE reminders_id_seq OWNED BY reminders.id;

CREATE TABLE reports (
    id bigint NOT NULL,
    case_id bigint NOT NULL,
    reporter_id bigint,
    reason text NOT NULL,
    note text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE SEQUENCE reports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE reports_id_seq OWNED BY reports.id;

CREATE TABLE roles (
    id bigint NOT NULL,
    name text NOT NULL,
    is_editable boolean DEFAULT true NOT NULL
);

CREATE SEQUENCE roles_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE roles_id_seq OWNED BY roles.id;

CREATE TABLE saved (
    user_id bigint NOT NULL,
    kind text NOT NULL,
    item text NOT NULL,
    title text NOT NULL,
    channel_title text,
    thumbnail text,
    saved boolean NOT NULL,
    saved_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

COMMENT ON COLUMN saved.kind IS 'article or video';

COMMENT ON COLUMN saved.item IS 'canonical address of an article, or the video platform''s id of a video';

COMMENT ON COLUMN saved.thumbnail IS 'address on a host of the video platform';

CREATE TABLE second_factors (
    user_id bigint NOT NULL,
    secret text NOT NULL,
    recovery_hashes text[] NOT NULL,
    confirmed_at timestamp with time zone,
    last_counter bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN second_factors.secret IS 'TOTP secret, encrypted with AES-256-GCM like a NIK';

COMMENT ON COLUMN second_factors.recovery_hashes IS 'keyed hashes of the unused recovery codes';

COMMENT ON COLUMN second_factors.confirmed_at IS 'when the person confirmed the factor; null: logins do not ask for a code yet';

COMMENT ON COLUMN second_factors.last_counter IS 'TOTP time step of the last accepted code; only codes of later steps are accepted';

CREATE TABLE senders (
    provider text NOT NULL,
    number text NOT NULL,
    state text DEFAULT 'up'::text NOT NULL,
    reason text,
    since timestamp with time zone DEFAULT now() NOT NULL,
    quality text,
    limit_24h integer,
    quota integer,
    checked_at timestamp with time zone
);

COMMENT ON COLUMN senders.number IS 'phone number id of WhatsApp, or MESSAGING_NUMBER of Fonnte; empty: the provider did not name it';

COMMENT ON COLUMN senders.reason IS 'the provider''s explanation if the state is not up';

COMMENT ON COLUMN senders.since IS 'when the present state began';

COMMENT ON COLUMN senders.quality IS 'WhatsApp''s quality rating: green, yellow or red';

COMMENT ON COLUMN senders.limit_24h IS 'different recipients allowed in 24 hours; null: unlimited or unknown';

COMMENT ON COLUMN senders.quota IS 'prepaid messages that are left';

COMMENT ON COLUMN senders.checked_at IS 'when the provider last reported the state';

CREATE TABLE sessions (
    id uuid NOT NULL,
    user_id bigint NOT NULL,
    kind text NOT NULL,
    refresh_hash text,
    last_used_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    device text,
    expires_at timestamp with time zone DEFAULT (now() + '01:00:00'::interval) NOT NULL
);

COMMENT ON COLUMN sessions.refresh_hash IS 'SHA-256 of the refresh token';

COMMENT ON COLUMN sessions.last_used_at IS 'time of the login or of the latest refresh';

COMMENT ON COLUMN sessions.device IS 'readable name of the device; null: the session began before names were stored';

COMMENT ON COLUMN sessions.expires_at IS 'set at login and refresh; shortened when the person becomes an administrator';

CREATE TABLE user_days (
    day date NOT NULL,
    users bigint NOT NULL
);

CREATE TABLE user_roles (
    user_id bigint NOT NULL,
    role_id bigint NOT NULL
);

CREATE TABLE users (
    id bigint NOT NULL,
    username text NOT NULL,
    email text,
    password_hash text,
    nama_ktp text NOT NULL,
    nama_samaran text,
    nomor_hp text,
    phone text,
    phone_invalid_at timestamp with time zone,
    nik text,
    domicile text,
    preferences jsonb,
    preference_tags text[] DEFAULT '{}'::text[] NOT NULL,
    accepts_broadcasts boolean DEFAULT true NOT NULL,
    is_verified boolean DEFAULT false NOT NULL,
    image text,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    phone_changed_at timestamp with time zone,
    phone_before text,
    is_staff boolean DEFAULT false NOT NULL,
    phone_verified_at timestamp with time zone,
    erasure_due_at timestamp with time zone,
    erasure_posts text,
    guardian_id bigint,
    CONSTRAINT ck_users_has_login_or_guardian CHECK (((password_hash IS NOT NULL) OR (guardian_id IS NOT NULL)))
);

COMMENT ON COLUMN users.password_hash IS 'null for a dependent, who cannot log in';

COMMENT ON COLUMN users.nomor_hp IS 'the phone number as the client sent it';

COMMENT ON COLUMN users.phone IS 'nomor_hp in E.164, for logins and messages';

COMMENT ON COLUMN users.phone_invalid_at IS 'when the messaging provider reported the number as invalid; cleared when the number changes';

COMMENT ON COLUMN users.nik IS 'AES-256-GCM, see app.identity.nik';

COMMENT ON COLUMN users.preferences IS 'JSON as the client sent it';

COMMENT ON COLUMN users.preference_tags IS 'preferences as a flat list, for the filter of broadcasts';

COMMENT ON COLUMN users.image IS 'name in the media store';

COMMENT ON COLUMN users.phone_changed_at IS 'when the person changed to this number; null: never changed';

COMMENT ON COLUMN users.phone_before IS 'the previous number in E.164; of several changes within a day, the number before the first change';

COMMENT ON COLUMN users.is_staff IS 'true if an administrator created the account and it never had another role than admin; then other administrators may set its password and delete it';

COMMENT ON COLUMN users.phone_verified_at IS 'when the person proved the number; null: not proven since the last change';

COMMENT ON COLUMN users.erasure_due_at IS 'when the account and its data are deleted, unless a login cancels the erasure; null: no erasure requested';

COMMENT ON COLUMN users.erasure_posts IS 'anonymise or delete: what happens to the person''s posts at the erasure';

COMMENT ON COLUMN users.guardian_id IS 'the caregiver who manages a dependent''s account (app.identity.dependents); null: not a dependent';

CREATE SEQUENCE users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE users_id_seq OWNED BY users.id;

CREATE TABLE videos (
    id bigint NOT NULL,
    video_id text NOT NULL,
    title text NOT NULL,
    channel_id text,
    channel_title text,
    thumbnail text,
    duration text,
    published_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN videos.video_id IS 'the video platform''s id';

COMMENT ON COLUMN videos.thumbnail IS 'URL from the video platform';

COMMENT ON COLUMN videos.duration IS 'ISO 8601 duration';

CREATE SEQUENCE videos_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE videos_id_seq OWNED BY videos.id;

ALTER TABLE ONLY access_log ALTER COLUMN id SET DEFAULT nextval('access_log_id_seq'::regclass);

ALTER TABLE ONLY activity_logs ALTER COLUMN id SET DEFAULT nextval('activity_logs_id_seq'::regclass);

ALTER TABLE ONLY articles ALTER COLUMN id SET DEFAULT nextval('articles_id_seq'::regclass);

ALTER TABLE ONLY audit_entries ALTER COLUMN id SET DEFAULT nextval('audit_entries_id_seq'::regclass);

ALTER TABLE ONLY blocks ALTER COLUMN id SET DEFAULT nextval('blocks_id_seq'::regclass);

ALTER TABLE ONLY broadcasts ALTER COLUMN id SET DEFAULT nextval('broadcasts_id_seq'::regclass);

ALTER TABLE ONLY caregiver_links ALTER COLUMN id SET DEFAULT nextval('caregiver_links_id_seq'::regclass);

ALTER TABLE ONLY cases ALTER COLUMN id SET DEFAULT nextval('cases_id_seq'::regclass);

ALTER TABLE ONLY consents ALTER COLUMN id SET DEFAULT nextval('consents_id_seq'::regclass);

ALTER TABLE ONLY data_exports ALTER COLUMN id SET DEFAULT nextval('data_exports_id_seq'::regclass);

ALTER TABLE ONLY deliveries ALTER COLUMN id SET DEFAULT nextval('deliveries_id_seq'::regclass);

ALTER TABLE ONLY dokter ALTER COLUMN id SET DEFAULT nextval('dokter_id_seq'::regclass);

ALTER TABLE ONLY emergency_numbers ALTER COLUMN id SET DEFAULT nextval('emergency_numbers_id_seq'::regclass);

ALTER TABLE ONLY forum_categories ALTER COLUMN id SET DEFAULT nextval('forum_categories_id_seq'::regclass);

ALTER TABLE ONLY inbound ALTER COLUMN id SET DEFAULT nextval('inbound_id_seq'::regclass);

ALTER TABLE ONLY invitations ALTER COLUMN id SET DEFAULT nextval('invitations_id_seq'::regclass);

ALTER TABLE ONLY kategori ALTER COLUMN id SET DEFAULT nextval('kategori_id_seq'::regclass);

ALTER TABLE ONLY komunitas ALTER COLUMN id SET DEFAULT nextval('komunitas_id_seq'::regclass);

ALTER TABLE ONLY occurrences ALTER COLUMN id SET DEFAULT nextval('occurrences_id_seq'::regclass);

ALTER TABLE ONLY posts ALTER COLUMN id SET DEFAULT nextval('posts_id_seq'::regclass);

ALTER TABLE ONLY push_subscriptions ALTER COLUMN id SET DEFAULT nextval('push_subscriptions_id_seq'::regclass);

ALTER TABLE ONLY reminders ALTER COLUMN id SET DEFAULT nextval('reminders_id_seq'::regclass);

ALTER TABLE ONLY reports ALTER COLUMN id SET DEFAULT nextval('reports_id_seq'::regclass);

ALTER TABLE ONLY roles ALTER COLUMN id SET DEFAULT nextval('roles_id_seq'::regclass);

ALTER TABLE ONLY users ALTER COLUMN id SET DEFAULT nextval('users_id_seq'::regclass);

ALTER TABLE ONLY videos ALTER COLUMN id SET DEFAULT nextval('videos_id_seq'::regclass);

ALTER TABLE ONLY access_log
    ADD CONSTRAINT pk_access_log PRIMARY KEY (id);

ALTER TABLE ONLY activity_logs
    ADD CONSTRAINT pk_activity_logs PRIMARY KEY (id);

ALTER TABLE ONLY articles
    ADD CONSTRAINT pk_articles PRIMARY KEY (id);

ALTER TABLE ONLY audit_entries
    ADD CONSTRAINT pk_audit_entries PRIMARY KEY (id);

ALTER TABLE ONLY blocks
    ADD CONSTRAINT pk_blocks PRIMARY KEY (id);

ALTER TABLE ONLY broadcast_pauses
    ADD CONSTRAINT pk_broadcast_pauses PRIMARY KEY (id);

ALTER TABLE ONLY broadcasts
    ADD CONSTRAINT pk_broadcasts PRIMARY KEY (id);

ALTER TABLE ONLY caregiver_cuts
    ADD CONSTRAINT pk_caregiver_cuts PRIMARY KEY (patient_id, caregiver_id);

ALTER TABLE ONLY caregiver_links
    ADD CONSTRAINT pk_caregiver_links PRIMARY KEY (id);

ALTER TABLE ONLY cases
    ADD CONSTRAINT pk_cases PRIMARY KEY (id);

ALTER TABLE ONLY consents
    ADD CONSTRAINT pk_consents PRIMARY KEY (id);

ALTER TABLE ONLY data_exports
    ADD CONSTRAINT pk_data_exports PRIMARY KEY (id);

ALTER TABLE ONLY deliveries
    ADD CONSTRAINT pk_deliveries PRIMARY KEY (id);

ALTER TABLE ONLY dokter
    ADD CONSTRAINT pk_dokter PRIMARY KEY (id);

ALTER TABLE ONLY dokter_faskes
    ADD CONSTRAINT pk_dokter_faskes PRIMARY KEY (dokter_id, faskes_id);

ALTER TABLE ONLY emergency_numbers
    ADD CONSTRAINT pk_emergency_numbers PRIMARY KEY (id);

ALTER TABLE ONLY faskes
    ADD CONSTRAINT pk_faskes PRIMARY KEY (id);

ALTER TABLE ONLY forum_categories
    ADD CONSTRAINT pk_forum_categories PRIMARY KEY (id);

ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT pk_idempotency_keys PRIMARY KEY (user_id, endpoint, key);

ALTER TABLE ONLY inbound
    ADD CONSTRAINT pk_inbound PRIMARY KEY (id);

ALTER TABLE ONLY invitations
    ADD CONSTRAINT pk_invitations PRIMARY KEY (id);

ALTER TABLE ONLY kategori
    ADD CONSTRAINT pk_kategori PRIMARY KEY (id);

ALTER TABLE ONLY komunitas
    ADD CONSTRAINT pk_komunitas PRIMARY KEY (id);

ALTER TABLE ONLY log_day_users
    ADD CONSTRAINT pk_log_day_users PRIMARY KEY (day, user_id);

ALTER TABLE ONLY log_days
    ADD CONSTRAINT pk_log_days PRIMARY KEY (day);

ALTER TABLE ONLY marks
    ADD CONSTRAINT pk_marks PRIMARY KEY (post_id, user_id);

ALTER TABLE ONLY notification_settings
    ADD CONSTRAINT pk_notification_settings PRIMARY KEY (user_id);

ALTER TABLE ONLY occurrences
    ADD CONSTRAINT pk_occurrences PRIMARY KEY (id);

ALTER TABLE ONLY own_pictures
    ADD CONSTRAINT pk_own_pictures PRIMARY KEY (name);

ALTER TABLE ONLY password_resets
    ADD CONSTRAINT pk_password_resets PRIMARY KEY (user_id);

ALTER TABLE ONLY phone_numbers
    ADD CONSTRAINT pk_phone_numbers PRIMARY KEY (phone);

ALTER TABLE ONLY phone_verifications
    ADD CONSTRAINT pk_phone_verifications PRIMARY KEY (user_id);

ALTER TABLE ONLY posts
    ADD CONSTRAINT pk_posts PRIMARY KEY (id);

ALTER TABLE ONLY province_configs
    ADD CONSTRAINT pk_province_configs PRIMARY KEY (province);

ALTER TABLE ONLY push_subscriptions
    ADD CONSTRAINT pk_push_subscriptions PRIMARY KEY (id);

ALTER TABLE ONLY reminders
    ADD CONSTRAINT pk_reminders PRIMARY KEY (id);

ALTER TABLE ONLY reports
    ADD CONSTRAINT pk_reports PRIMARY KEY (id);

ALTER TABLE ONLY roles
    ADD CONSTRAINT pk_roles PRIMARY KEY (id);

ALTER TABLE ONLY saved
    ADD CONSTRAINT pk_saved PRIMARY KEY (user_id, kind, item);

ALTER TABLE ONLY second_factors
    ADD CONSTRAINT pk_second_factors PRIMARY KEY (user_id);

ALTER TABLE ONLY senders
    ADD CONSTRAINT pk_senders PRIMARY KEY (provider, number);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT pk_sessions PRIMARY KEY (id);

ALTER TABLE ONLY user_days
    ADD CONSTRAINT pk_user_days PRIMARY KEY (day);

ALTER TABLE ONLY user_roles
    ADD CONSTRAINT pk_user_roles PRIMARY KEY (user_id, role_id);

ALTER TABLE ONLY users
    ADD CONSTRAINT pk_users PRIMARY KEY (id);

ALTER TABLE ONLY videos
    ADD CONSTRAINT pk_videos PRIMARY KEY (id);

ALTER TABLE ONLY activity_logs
    ADD CONSTRAINT uq_activity_logs_stream_id UNIQUE (stream_id);

ALTER TABLE ONLY articles
    ADD CONSTRAINT uq_articles_url UNIQUE (url);

ALTER TABLE ONLY blocks
    ADD CONSTRAINT uq_blocks_user_id_blocked_id_use_pseudonym UNIQUE (user_id, blocked_id, use_pseudonym);

ALTER TABLE ONLY broadcasts
    ADD CONSTRAINT uq_broadcasts_kind_about_id UNIQUE (kind, about_id);

ALTER TABLE ONLY caregiver_links
    ADD CONSTRAINT uq_caregiver_links_caregiver_id_patient_id UNIQUE (caregiver_id, patient_id);

ALTER TABLE ONLY cases
    ADD CONSTRAINT uq_cases_post_id UNIQUE (post_id);

ALTER TABLE ONLY data_exports
    ADD CONSTRAINT uq_data_exports_user_id_day UNIQUE (user_id, day);

ALTER TABLE ONLY deliveries
    ADD CONSTRAINT uq_deliveries_dedupe_key UNIQUE (dedupe_key);

ALTER TABLE ONLY forum_categories
    ADD CONSTRAINT uq_forum_categories_name UNIQUE (name);

ALTER TABLE ONLY inbound
    ADD CONSTRAINT uq_inbound_event_key UNIQUE (event_key);

ALTER TABLE ONLY invitations
    ADD CONSTRAINT uq_invitations_code_hash UNIQUE (code_hash);

ALTER TABLE ONLY occurrences
    ADD CONSTRAINT uq_occurrences_reminder_id_due_at_slot UNIQUE (reminder_id, due_at, slot);

ALTER TABLE ONLY password_resets
    ADD CONSTRAINT uq_password_resets_token_hash UNIQUE (token_hash);

ALTER TABLE ONLY phone_verifications
    ADD CONSTRAINT uq_phone_verifications_code_hash UNIQUE (code_hash);

ALTER TABLE ONLY push_subscriptions
    ADD CONSTRAINT uq_push_subscriptions_endpoint UNIQUE (endpoint);

ALTER TABLE ONLY reports
    ADD CONSTRAINT uq_reports_case_id_reporter_id UNIQUE (case_id, reporter_id);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT uq_sessions_refresh_hash UNIQUE (refresh_hash);

ALTER TABLE ONLY videos
    ADD CONSTRAINT uq_videos_video_id UNIQUE (video_id);

CREATE INDEX ix_access_log_actor_id ON access_log USING btree (actor_id);

CREATE INDEX ix_access_log_user_id ON access_log USING btree (user_id, id);

CREATE INDEX ix_activity_logs_created_at ON activity_logs USING btree (created_at);

CREATE INDEX ix_activity_logs_user_id ON activity_logs USING btree (user_id, created_at);

CREATE INDEX ix_articles_kategori_id ON articles USING btree (kategori_id);

CREATE INDEX ix_articles_title ON articles USING gin (title gin_trgm_ops);

CREATE INDEX ix_audit_entries_actor_id ON audit_entries USING btree (actor_id, id);

CREATE INDEX ix_audit_entries_public ON audit_entries USING btree (id) WHERE (action <> 'sql'::text);

CREATE INDEX ix_audit_entries_subject ON audit_entries USING btree (subject);

CREATE INDEX ix_blocks_blocked_id ON blocks USING btree (blocked_id);

CREATE INDEX ix_broadcasts_open ON broadcasts USING btree (starts_at) WHERE (state = 'open'::text);

CREATE INDEX ix_caregiver_cuts_caregiver_id ON caregiver_cuts USING btree (caregiver_id);

CREATE INDEX ix_caregiver_links_created_at ON caregiver_links USING btree (created_at, id);

CREATE INDEX ix_caregiver_links_patient_id ON caregiver_links USING btree (patient_id);

CREATE INDEX ix_cases_is_urgent ON cases USING btree (is_urgent, id);

CREATE INDEX ix_consents_user_id ON consents USING btree (user_id);

CREATE INDEX ix_consents_withdrawn ON consents USING btree (purpose, created_at) WHERE ((ended_at IS NULL) AND (NOT granted));

CREATE INDEX ix_data_exports_waiting ON data_exports USING btree (next_try_at) WHERE (ready_at IS NULL);

CREATE INDEX ix_deliveries_created_at ON deliveries USING btree (created_at);

CREATE INDEX ix_deliveries_link_hash ON deliveries USING btree (link_hash) WHERE (link_hash IS NOT NULL);

CREATE INDEX ix_deliveries_open ON deliveries USING btree (queue, channel, next_try_at) WHERE (state = ANY (ARRAY['pending'::text, 'claimed'::text]));

CREATE INDEX ix_deliveries_provider_ref ON deliveries USING btree (provider_ref) WHERE (provider_ref IS NOT NULL);

CREATE INDEX ix_deliveries_settled ON deliveries USING btree (queue, settled_at) WHERE (settled_at IS NOT NULL);

CREATE INDEX ix_deliveries_target ON deliveries USING btree (target) WHERE (user_id IS NULL);

CREATE INDEX ix_deliveries_user_id ON deliveries USING btree (user_id, due_at);

CREATE INDEX ix_dokter_created_at ON dokter USING btree (created_at, id);

CREATE INDEX ix_dokter_faskes_faskes_id ON dokter_faskes USING btree (faskes_id);

CREATE INDEX ix_dokter_searched ON dokter USING gin (nama gin_trgm_ops, spesialisasi gin_trgm_ops);

CREATE INDEX ix_emergency_numbers_province ON emergency_numbers USING btree (province, id);

CREATE INDEX ix_faskes_alamat ON faskes USING gin (alamat gin_trgm_ops);

CREATE INDEX ix_faskes_created_at ON faskes USING btree (created_at, id);

CREATE INDEX ix_faskes_nama ON faskes USING gin (nama gin_trgm_ops);

CREATE INDEX ix_faskes_position ON faskes USING gist (point(lng, lat));

CREATE INDEX ix_faskes_province ON faskes USING btree (province);

CREATE INDEX ix_idempotency_keys_created_at ON idempotency_keys USING btree (created_at);

CREATE INDEX ix_inbound_open ON inbound USING btree (kind, id) WHERE (handled_at IS NULL);

CREATE INDEX ix_inbound_phone ON inbound USING btree (phone, received_at) WHERE (kind = 'message'::text);

CREATE INDEX ix_inbound_received_at ON inbound USING brin (received_at);

CREATE INDEX ix_inbound_state_ref ON inbound USING btree (((payload ->> 'state_ref'::text))) WHERE (((payload ->> 'state_ref'::text) IS NOT NULL) AND (ref IS NOT NULL));

CREATE INDEX ix_invitations_expires_at ON invitations USING btree (expires_at);

CREATE INDEX ix_invitations_patient_id ON invitations USING btree (patient_id);

CREATE INDEX ix_invitations_session_id ON invitations USING btree (session_id);

CREATE INDEX ix_komunitas_kategori_id ON komunitas USING btree (kategori_id);

CREATE INDEX ix_komunitas_province ON komunitas USING btree (province);

CREATE INDEX ix_komunitas_searched ON komunitas USING gin (nama gin_trgm_ops, deskripsi gin_trgm_ops);

CREATE INDEX ix_marks_user_id ON marks USING btree (user_id, post_id);

CREATE INDEX ix_occurrences_due_at ON occurrences USING brin (due_at);

CREATE INDEX ix_occurrences_open ON occurrences USING btree (due_at) WHERE (state = 'pending'::text);

CREATE INDEX ix_occurrences_user_id ON occurrences USING btree (user_id, due_at, id);

CREATE INDEX ix_own_pictures_user_id ON own_pictures USING btree (user_id);

CREATE INDEX ix_phone_verifications_expires_at ON phone_verifications USING btree (expires_at);

CREATE INDEX ix_phone_verifications_phone ON phone_verifications USING btree (phone);

CREATE INDEX ix_phone_verifications_session_id ON phone_verifications USING btree (session_id);

CREATE INDEX ix_posts_category_id ON posts USING btree (category_id, id) INCLUDE (user_id, use_pseudonym, hidden_by) WHERE (root_id IS NULL);

CREATE INDEX ix_posts_created_at ON posts USING btree (created_at);

CREATE INDEX ix_posts_parent_id ON posts USING btree (parent_id);

CREATE INDEX ix_posts_root_id ON posts USING btree (root_id, id);

CREATE INDEX ix_posts_searched ON posts USING gin (title gin_trgm_ops, content gin_trgm_ops) WHERE (root_id IS NULL);

CREATE INDEX ix_posts_threads ON posts USING btree (id) INCLUDE (user_id, use_pseudonym, hidden_by) WHERE (root_id IS NULL);

CREATE INDEX ix_posts_user_id ON posts USING btree (user_id, id);

CREATE INDEX ix_push_subscriptions_session_id ON push_subscriptions USING btree (session_id);

CREATE INDEX ix_push_subscriptions_user_id ON push_subscriptions USING btree (user_id);

CREATE INDEX ix_reminders_planned_until ON reminders USING btree (planned_until);

CREATE INDEX ix_reminders_user_id ON reminders USING btree (user_id, id);

CREATE INDEX ix_reports_reporter_id ON reports USING btree (reporter_id, id);

CREATE INDEX ix_saved_user_id_saved_at ON saved USING btree (user_id, kind, saved_at);

CREATE INDEX ix_sessions_user_id ON sessions USING btree (user_id);

CREATE INDEX ix_user_roles_role_id ON user_roles USING btree (role_id);

CREATE INDEX ix_users_created_at ON users USING btree (created_at, id);

CREATE INDEX ix_users_domicile ON users USING btree (domicile);

CREATE INDEX ix_users_erasure_due_at ON users USING btree (erasure_due_at) WHERE (erasure_due_at IS NOT NULL);

CREATE INDEX ix_users_guardian_id ON users USING btree (guardian_id) WHERE (guardian_id IS NOT NULL);

CREATE INDEX ix_users_is_verified ON users USING btree (is_verified, created_at, id);

CREATE INDEX ix_users_searched ON users USING gin (username gin_trgm_ops, nama_ktp gin_trgm_ops, email gin_trgm_ops, nomor_hp gin_trgm_ops, phone gin_trgm_ops);

CREATE INDEX ix_videos_searched ON videos USING gin (title gin_trgm_ops, channel_title gin_trgm_ops);

CREATE UNIQUE INDEX uq_consents_present ON consents USING btree (user_id, purpose) WHERE (ended_at IS NULL);

CREATE UNIQUE INDEX uq_kategori_nama_kategori ON kategori USING btree (lower(nama_kategori));

CREATE UNIQUE INDEX uq_roles_name ON roles USING btree (lower(name));

CREATE UNIQUE INDEX uq_users_email ON users USING btree (lower(email));

CREATE UNIQUE INDEX uq_users_phone ON users USING btree (phone) WHERE (phone IS NOT NULL);

CREATE UNIQUE INDEX uq_users_username ON users USING btree (lower(username));

CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER only_forget BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION only_forget();

CREATE TRIGGER tally_deleted AFTER DELETE ON users REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION tally_users();

CREATE TRIGGER tally_inserted AFTER INSERT ON users REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION tally_users();

CREATE TRIGGER tally_moved AFTER UPDATE OF created_at ON users FOR EACH ROW WHEN ((old.created_at IS DISTINCT FROM new.created_at)) EXECUTE FUNCTION move_user_day();

CREATE TRIGGER tally_truncated AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION tally_users();

ALTER TABLE ONLY access_log
    ADD CONSTRAINT fk_access_log_actor_id FOREIGN KEY (actor_id) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY access_log
    ADD CONSTRAINT fk_access_log_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY articles
    ADD CONSTRAINT fk_articles_kategori_id FOREIGN KEY (kategori_id) REFERENCES kategori(id) ON DELETE RESTRICT;

ALTER TABLE ONLY blocks
    ADD CONSTRAINT fk_blocks_blocked_id FOREIGN KEY (blocked_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY blocks
    ADD CONSTRAINT fk_blocks_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY caregiver_cuts
    ADD CONSTRAINT fk_caregiver_cuts_caregiver_id FOREIGN KEY (caregiver_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY caregiver_cuts
    ADD CONSTRAINT fk_caregiver_cuts_patient_id FOREIGN KEY (patient_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY caregiver_links
    ADD CONSTRAINT fk_caregiver_links_caregiver_id FOREIGN KEY (caregiver_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY caregiver_links
    ADD CONSTRAINT fk_caregiver_links_patient_id FOREIGN KEY (patient_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY cases
    ADD CONSTRAINT fk_cases_post_id FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE;

ALTER TABLE ONLY consents
    ADD CONSTRAINT fk_consents_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY data_exports
    ADD CONSTRAINT fk_data_exports_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY deliveries
    ADD CONSTRAINT fk_deliveries_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY dokter_faskes
    ADD CONSTRAINT fk_dokter_faskes_dokter_id FOREIGN KEY (dokter_id) REFERENCES dokter(id) ON DELETE CASCADE;

ALTER TABLE ONLY dokter_faskes
    ADD CONSTRAINT fk_dokter_faskes_faskes_id FOREIGN KEY (faskes_id) REFERENCES faskes(id) ON DELETE CASCADE;

ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT fk_idempotency_keys_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY invitations
    ADD CONSTRAINT fk_invitations_patient_id FOREIGN KEY (patient_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY invitations
    ADD CONSTRAINT fk_invitations_session_id FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY komunitas
    ADD CONSTRAINT fk_komunitas_kategori_id FOREIGN KEY (kategori_id) REFERENCES kategori(id) ON DELETE RESTRICT;

ALTER TABLE ONLY marks
    ADD CONSTRAINT fk_marks_post_id FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE;

ALTER TABLE ONLY marks
    ADD CONSTRAINT fk_marks_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY notification_settings
    ADD CONSTRAINT fk_notification_settings_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY occurrences
    ADD CONSTRAINT fk_occurrences_reminder_id FOREIGN KEY (reminder_id) REFERENCES reminders(id) ON DELETE SET NULL;

ALTER TABLE ONLY occurrences
    ADD CONSTRAINT fk_occurrences_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY own_pictures
    ADD CONSTRAINT fk_own_pictures_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY password_resets
    ADD CONSTRAINT fk_password_resets_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY phone_verifications
    ADD CONSTRAINT fk_phone_verifications_session_id FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY phone_verifications
    ADD CONSTRAINT fk_phone_verifications_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY posts
    ADD CONSTRAINT fk_posts_category_id FOREIGN KEY (category_id) REFERENCES forum_categories(id);

ALTER TABLE ONLY posts
    ADD CONSTRAINT fk_posts_parent_id FOREIGN KEY (parent_id) REFERENCES posts(id);

ALTER TABLE ONLY posts
    ADD CONSTRAINT fk_posts_root_id FOREIGN KEY (root_id) REFERENCES posts(id) ON DELETE CASCADE;

ALTER TABLE ONLY posts
    ADD CONSTRAINT fk_posts_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY push_subscriptions
    ADD CONSTRAINT fk_push_subscriptions_session_id FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY push_subscriptions
    ADD CONSTRAINT fk_push_subscriptions_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY reminders
    ADD CONSTRAINT fk_reminders_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY reports
    ADD CONSTRAINT fk_reports_case_id FOREIGN KEY (case_id) REFERENCES cases(id) ON DELETE CASCADE;

ALTER TABLE ONLY reports
    ADD CONSTRAINT fk_reports_reporter_id FOREIGN KEY (reporter_id) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY saved
    ADD CONSTRAINT fk_saved_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY second_factors
    ADD CONSTRAINT fk_second_factors_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY sessions
    ADD CONSTRAINT fk_sessions_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY user_roles
    ADD CONSTRAINT fk_user_roles_role_id FOREIGN KEY (role_id) REFERENCES roles(id) ON DELETE RESTRICT;

ALTER TABLE ONLY user_roles
    ADD CONSTRAINT fk_user_roles_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY users
    ADD CONSTRAINT fk_users_guardian_id FOREIGN KEY (guardian_id) REFERENCES users(id);
