"""The origin of `config/quickstart.sh --demo`: origin.py PORT

/file/N: a file, fresh for an hour. /news: fresh for 4 s, with an ETag that confirms it. /slow: takes
0.3 s."""
import http.server
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        news = self.path.startswith("/news")
        if self.path.startswith("/slow"):
            time.sleep(0.3)
        unchanged = news and self.headers.get("If-None-Match") == '"news"'
        body = b"" if unchanged else f"This is {self.path}.\n".encode() * 500
        self.send_response(304 if unchanged else 200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Cache-Control", "max-age=4" if news else "max-age=3600")
        if news:
            self.send_header("ETag", '"news"')
        if not unchanged:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:  # the proxy needs it no more
            self.close_connection = True

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
