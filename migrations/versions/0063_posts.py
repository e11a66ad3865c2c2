"""One table of posts in place of threads and replies. The old posts, marks, cases and blocks are not kept."""

from __future__ import annotations

from alembic import op

revision = "0063"
down_revision = "0062"

OLD = (
    "crisis_phrases", "forum_blocks", "forum_reports", "forum_cases", "forum_reply_marks", "forum_thread_marks",
    "forum_reply_notices", "forum_replies", "forum_threads",
)  # fmt: skip

NEW = """
CREATE TABLE posts (
    id BIGSERIAL NOT NULL,
    root_id BIGINT,
    parent_id BIGINT,
    depth SMALLINT DEFAULT 0 NOT NULL,
    category_id BIGINT,
    user_id BIGINT,
    title TEXT,
    content TEXT,
    use_pseudonym BOOLEAN DEFAULT false NOT NULL,
    image TEXT,
    hidden_by TEXT,
    likes_count INTEGER DEFAULT 0 NOT NULL,
    saves_count INTEGER DEFAULT 0 NOT NULL,
    replies_count INTEGER DEFAULT 0 NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_posts PRIMARY KEY (id),
    CONSTRAINT ck_posts_depth CHECK (depth BETWEEN 0 AND 20),
    CONSTRAINT ck_posts_thread CHECK ((root_id IS NULL) = (title IS NOT NULL AND category_id IS NOT NULL)),
    CONSTRAINT fk_posts_root_id FOREIGN KEY(root_id) REFERENCES posts (id) ON DELETE CASCADE,
    CONSTRAINT fk_posts_parent_id FOREIGN KEY(parent_id) REFERENCES posts (id),
    CONSTRAINT fk_posts_category_id FOREIGN KEY(category_id) REFERENCES forum_categories (id),
    CONSTRAINT fk_posts_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL
)
    WITH (fillfactor = 90);
CREATE INDEX ix_posts_category_id ON posts (category_id, id) WHERE root_id IS NULL;
CREATE INDEX ix_posts_created_at ON posts (created_at);
CREATE INDEX ix_posts_parent_id ON posts (parent_id);
CREATE INDEX ix_posts_root_id ON posts (root_id, id);
CREATE INDEX ix_posts_searched ON posts USING gin (title gin_trgm_ops, content gin_trgm_ops) WHERE root_id IS NULL;
CREATE INDEX ix_posts_threads ON posts (id) WHERE root_id IS NULL;
CREATE INDEX ix_posts_user_id ON posts (user_id, id);
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
CREATE TABLE marks (
    post_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    is_liked BOOLEAN DEFAULT false NOT NULL,
    is_saved BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_marks PRIMARY KEY (post_id, user_id),
    CONSTRAINT fk_marks_post_id FOREIGN KEY(post_id) REFERENCES posts (id) ON DELETE CASCADE,
    CONSTRAINT fk_marks_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_marks_user_id ON marks (user_id, post_id);
CREATE TABLE cases (
    id BIGSERIAL NOT NULL,
    post_id BIGINT NOT NULL,
    state TEXT DEFAULT 'open' NOT NULL,
    is_urgent BOOLEAN DEFAULT false NOT NULL,
    is_crisis BOOLEAN DEFAULT false NOT NULL,
    reason TEXT,
    decided_at TIMESTAMP WITH TIME ZONE,
    appeal TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_cases PRIMARY KEY (id),
    CONSTRAINT uq_cases_post_id UNIQUE (post_id),
    CONSTRAINT fk_cases_post_id FOREIGN KEY(post_id) REFERENCES posts (id) ON DELETE CASCADE
);
CREATE INDEX ix_cases_is_urgent ON cases (is_urgent, id);
COMMENT ON COLUMN cases.is_urgent IS 'true if somebody may be in danger';
COMMENT ON COLUMN cases.is_crisis IS 'true if the author was shown crisis help; reports never hide such a post';
COMMENT ON COLUMN cases.reason IS 'the moderator''s reason for the latest decision';
COMMENT ON COLUMN cases.appeal IS 'the author''s appeal; null after a decision';
CREATE TABLE reports (
    id BIGSERIAL NOT NULL,
    case_id BIGINT NOT NULL,
    reporter_id BIGINT,
    reason TEXT NOT NULL,
    note TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_reports PRIMARY KEY (id),
    CONSTRAINT uq_reports_case_id_reporter_id UNIQUE (case_id, reporter_id),
    CONSTRAINT fk_reports_case_id FOREIGN KEY(case_id) REFERENCES cases (id) ON DELETE CASCADE,
    CONSTRAINT fk_reports_reporter_id FOREIGN KEY(reporter_id) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX ix_reports_reporter_id ON reports (reporter_id, id);
CREATE TABLE blocks (
    id BIGSERIAL NOT NULL,
    user_id BIGINT NOT NULL,
    blocked_id BIGINT NOT NULL,
    use_pseudonym BOOLEAN NOT NULL,
    shown_as TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_blocks PRIMARY KEY (id),
    CONSTRAINT uq_blocks_user_id_blocked_id_use_pseudonym UNIQUE (user_id, blocked_id, use_pseudonym),
    CONSTRAINT fk_blocks_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_blocks_blocked_id FOREIGN KEY(blocked_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_blocks_blocked_id ON blocks (blocked_id);
COMMENT ON COLUMN blocks.shown_as IS 'the author name that the post showed';
"""


def upgrade() -> None:
    for table in OLD:
        op.execute(f"DROP TABLE {table}")
    op.execute(NEW)
    op.execute("UPDATE forum_categories SET threads_count = 0")
    op.execute("DELETE FROM broadcasts WHERE kind = 'forum_thread'")


def downgrade() -> None:
    raise NotImplementedError("the old tables are gone")
