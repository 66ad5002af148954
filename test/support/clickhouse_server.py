"""A ClickHouse engine with the part of its HTTP interface that the official client uses. For tests only.

    python clickhouse_server.py DATA_FOLDER [PORT]

Needs the package `chdb`, the engine as a library. Listens on 127.0.0.1, prints its address as the first line,
and serves until SIGTERM. Every statement needs the password of LENSGATE_CLICKHOUSE_PASSWORD, if it is set. Pings need none.
"""

import base64
import email.parser
import email.policy
import os
import queue
import re
import sys
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

SESSIONS = 4
# Query parameters of the HTTP interface. All others are settings or parameters of the statement.
HTTP_PARAMETERS = {"query", "query_id", "database", "wait_end_of_query", "role", "session_id", "default_format"}
HTTP_PARAMETERS |= {"send_progress_in_http_headers", "http_headers_progress_interval_ms", "enable_http_compression"}
CODE = re.compile(r"Code: (\d+)\.")
NAME = re.compile(r"\A\w+\Z")


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Refused(Exception):
    def __init__(self, code, name, text):
        super().__init__(f"Code: {code}. DB::Exception: {text} ({name}) (version 0)")


class Engine:
    """An engine over a folder, with a pool of connections."""

    def __init__(self, folder):
        self.idle = queue.Queue()
        for _ in range(SESSIONS):
            self.idle.put(session.Session(folder))

    def answer(self, statement, database, settings, params):
        connection = self.idle.get()
        try:
            connection.query(f"use {database}")
            if "readonly" in settings:
                # `readonly` is set for this statement only, because a read-only connection cannot reset it.
                own = ", ".join(f"{name} = {quoted(value)}" for name, value in settings.items())
                statement, settings = statement + f"\nsettings {own}".encode(), {}
            for name, value in settings.items():
                connection.query(f"set {name} = {quoted(value)}")
            return connection.query(statement.decode(), "TabSeparated", params=params).bytes()
        finally:
            for name in settings:
                connection.query(f"set {name} = default")
            self.idle.put(connection)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Sends an answer in one packet if possible. With two, the client waits 40 ms for the second one.
    disable_nagle_algorithm = True
    wbufsize = -1
    engine = None
    password = os.environ.get("LENSGATE_CLICKHOUSE_PASSWORD")

    def do_GET(self):
        self.respond(200, b"Ok.\n")

    def do_POST(self):
        try:
            self.respond(200, self.run_statement())
        except Exception as error:  # reports every error to the client
            text = str(error)
            found = CODE.search(text)
            if found is None:
                traceback.print_exc()
            self.respond(500, text.encode() + b"\n", found[1] if found else "1001")

    def run_statement(self):
        body = self.body()
        self.check_password()
        fields = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        fields |= self.form(body)
        statement = fields.get("query", "").encode()
        if not self.is_form():
            statement = statement + b"\n" + body if statement else body
        params = {name[6:]: value for name, value in fields.items() if name.startswith("param_")}
        settings = {name: value for name, value in fields.items() if name not in HTTP_PARAMETERS and not name.startswith("param_")}
        names = [fields.get("database", "default"), *settings]
        if not all(NAME.match(name) for name in names):
            raise Refused(62, "SYNTAX_ERROR", "A name has invalid characters.")
        return self.engine.answer(statement, names[0], settings, params)

    def body(self):
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", "0")))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def is_form(self):
        return self.headers.get_content_type() == "multipart/form-data"

    def form(self, body):
        if not self.is_form():
            return {}
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        parts = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body).iter_parts()
        return {part.get_param("name", header="content-disposition"): part.get_payload(decode=True).decode() for part in parts}

    def check_password(self):
        if self.password is None:
            return
        scheme, _, rest = self.headers.get("authorization", "").partition(" ")
        given = base64.b64decode(rest).decode().partition(":")[2] if scheme == "Basic" else None
        if given != self.password:
            raise Refused(516, "AUTHENTICATION_FAILED", "Authentication failed: password is incorrect.")

    def respond(self, status, body, code=None):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        if code is not None:
            self.send_header("x-clickhouse-exception-code", code)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    folder, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    Handler.engine = Engine(folder)
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


main()
