"""Queries of rows that contradict each other."""

#: Queries that count wrong rows, for example rows with a wrong counter, and rows that refer to deleted rows.
WRONG = {
    "threads of a category": """
        SELECT count(*) FROM forum_categories AS c
        WHERE threads_count <> (SELECT count(*) FROM posts WHERE category_id = c.id AND hidden_by IS NULL)""",
    "replies of a thread": """
        SELECT count(*) FROM posts AS t WHERE replies_count <> (
            SELECT count(*) FROM posts WHERE root_id = t.id AND content IS NOT NULL AND hidden_by IS NULL)""",
    "likes and saves of a post": """
        SELECT count(*) FROM posts AS p WHERE (likes_count, saves_count) <> (
            SELECT count(*) FILTER (WHERE is_liked), count(*) FILTER (WHERE is_saved)
            FROM marks WHERE post_id = p.id)""",
    "stubs that hold nothing": """
        SELECT count(*) FROM posts AS p
        WHERE content IS NULL AND NOT EXISTS (SELECT FROM posts WHERE parent_id = p.id)""",
    "cases of stubs": """
        SELECT count(*) FROM cases JOIN posts ON posts.id = post_id WHERE content IS NULL""",
    "hidden posts without a case, and shown posts whose case says that they are hidden": """
        SELECT count(*) FROM posts LEFT JOIN cases ON post_id = posts.id
        WHERE hidden_by IS NOT NULL AND coalesce(state, 'kept') = 'kept' OR hidden_by IS NULL AND state = 'hidden'""",
    "people a day": """
        SELECT count(*) FROM user_days AS d WHERE users <> (
            SELECT count(*) FROM users WHERE (created_at AT TIME ZONE 'Asia/Jakarta')::date = d.day)""",
    "people without a role": """
        SELECT count(*) FROM users WHERE NOT EXISTS (SELECT FROM user_roles WHERE user_id = users.id)""",
    "dependents without a caregiver who stays": """
        SELECT count(*) FROM users AS d LEFT JOIN users AS c ON c.id = d.guardian_id
        WHERE d.password_hash IS NULL AND d.erasure_due_at IS NULL
        AND (c.id IS NULL OR c.erasure_due_at IS NOT NULL)""",
    "caregivers with too many dependents": """
        SELECT count(*) FROM (
            SELECT FROM users WHERE erasure_due_at IS NULL GROUP BY guardian_id HAVING count(guardian_id) > 5
        ) AS crowds""",
    "people with too many browsers": """
        SELECT count(*) FROM (SELECT FROM push_subscriptions GROUP BY user_id HAVING count(user_id) > 10) AS crowds""",
}


def wrong_rows(scene):
    """Return the number of wrong rows of each query that finds some."""
    found = scene.sql(f"SELECT ARRAY[{', '.join(f'({query})' for query in WRONG.values())}]")
    return {name: rows for name, rows in zip(WRONG, found, strict=True) if rows}
