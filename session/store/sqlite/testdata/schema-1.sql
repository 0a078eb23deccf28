-- A file of schema 1 with a session and an event in it.
CREATE TABLE sessions (
	n      INTEGER PRIMARY KEY,
	id     TEXT NOT NULL UNIQUE,
	record BLOB NOT NULL
) STRICT;
CREATE TABLE events (
	session INTEGER NOT NULL,
	idx     INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	type    TEXT NOT NULL,
	data    BLOB NOT NULL,
	PRIMARY KEY (session, idx)
) STRICT, WITHOUT ROWID;
CREATE TABLE defaults (
	subject TEXT PRIMARY KEY,
	harness TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO sessions VALUES (1, '2e9dbc51-5c4c-4a5c-9a4e-0d6f8a1b7c3d', CAST('{"id":"2e9dbc51-5c4c-4a5c-9a4e-0d6f8a1b7c3d","subject":"operator","harness":"old","root":"/src","account":null,"title":"a title","created_at":1785996000000000,"updated_at":1785996000000001,"turns":1,"mcp_token_digest":null,"commands":[]}' AS BLOB));
INSERT INTO events VALUES (1, 0, 1785996000000000, 'application/json', CAST('{"kind":"user","turn":1,"text":"hi"}' AS BLOB));
INSERT INTO defaults VALUES ('operator', 'old');
PRAGMA application_id = 1632392016;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
