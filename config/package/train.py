#!/usr/bin/env python3
"""Puts an everyday load on a program that was built to record which of its code it runs.

    config/package/train.py HEARSAY

Two proxies and an origin run on loopback until the load is over, which takes about half a minute. The
compiler reads what they have recorded (see config/package/build.sh): the order of branches and the functions
worth inlining. Which answers are right is for the tests to say; this script fails if one is an error.
"""
import itertools
import json
import os
import pathlib
import pwd
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading

SIZES = {"1k": 1024, "10k": 10 * 1024, "100k": 100 * 1024, "2m": 2 << 20}
HEAD = "HTTP/1.1 {}\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nServer: origin\r\nContent-Type: text/html\r\n"
BROWSER = (
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0\r\n"
    "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\nAccept-Language: en\r\nAccept-Encoding: gzip, br\r\n"
)


def lines_of(connection):
    """Reads heads, and so many bytes after each as are asked for."""
    unread = b""

    def head():
        nonlocal unread
        while (end := unread.find(b"\r\n\r\n")) < 0:
            if not (more := connection.recv(1 << 16)):
                return None
            unread += more
        text, unread = unread[: end + 4].decode("latin-1"), unread[end + 4 :]
        return text

    def body(size):
        nonlocal unread
        while len(unread) < size:
            if not (more := connection.recv(1 << 20)):
                raise EOFError
            unread += more
        bytes_, unread = unread[:size], unread[size:]
        return bytes_

    return head, body


def length_of(head):
    found = re.search(r"(?i)\r\ncontent-length: *(\d+)", head)
    return int(found[1]) if found else 0


class Origin:
    """Paths: /stored/SIZE/NAME is fresh for an hour, /stale/... at once stale, /unstored/... is never stored."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        head, body = lines_of(connection)
        try:
            while request := head():
                body(length_of(request))
                connection.sendall(self.answer(request))
        except (OSError, EOFError):
            pass

    def answer(self, request):
        _, kind, size, *_ = request.split(" ")[1].split("/")
        if "\r\nif-none-match:" in request.lower():
            return (HEAD.format("304 Not Modified") + 'ETag: "one"\r\n\r\n').encode()
        control = {"stored": "max-age=3600", "stale": "max-age=0", "unstored": "no-store"}[kind]
        fields = f'Cache-Control: {control}\r\nETag: "one"\r\nContent-Length: {SIZES[size]}\r\n\r\n'
        return (HEAD.format("200 OK") + fields).encode() + bytes(SIZES[size])


class Proxy:
    def __init__(self, program, folder, name, settings):
        # The records lie in the build folder: the program must be allowed to write there.
        user = pwd.getpwuid(os.getuid()).pw_name
        everyday = {"name": name, "listen": ["127.0.0.1:0"], "threads": 1, "control": "none",
                    "sandbox": False, "user": user, "access": {"deny_to": []}, "log": {"access": str(folder / f"{name}.log")}}
        file = folder / f"{name}.json"
        file.write_text(json.dumps({**everyday, **settings}))
        self.process = subprocess.Popen([program, "serve", "--config", file], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        said = self.process.stdout.readline()
        if not said:
            sys.exit(f"{program} does not serve")
        self.port = int(said.rsplit(":", 1)[1])

    def end(self):
        """The records are written when the program ends."""
        self.process.terminate()
        if self.process.wait(60) != 0:
            sys.exit(f"the program ended with {self.process.returncode}")


def ask(proxy, requests, at_once=1):
    """Sends the requests over one connection, `at_once` of them before the first answer is read."""
    with socket.create_connection(("127.0.0.1", proxy.port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head, body = lines_of(connection)
        requests = iter(requests)
        while batch := list(itertools.islice(requests, at_once)):
            connection.sendall("".join(batch).encode())
            for request in batch:
                answer = head()
                if not answer or answer[9] not in "23":
                    sys.exit(f"{request!r} was answered {answer!r}")
                bodiless = answer[9:12] == "304"
                body(0 if bodiless else length_of(answer))


def get(url, more=""):
    host = url.split("/")[2]
    return f"GET {url} HTTP/1.1\r\nHost: {host}\r\n{BROWSER}{more}\r\n"


def post(url, body):
    return f"POST {url} HTTP/1.1\r\nHost: {url.split('/')[2]}\r\nContent-Length: {len(body)}\r\n\r\n{body}"


def everyday(origin, name):
    """What one client asks for: mostly hits, some of them conditional, and misses of every kind."""
    choose = random.Random(name)
    for i in range(3000):
        popular = choose.randrange(400)
        size = choose.choices(["1k", "10k", "100k"], [6, 3, 1])[0]
        yield get(f"{origin.url}/stored/{size}/{popular}")
        if i % 2:
            yield get(f"{origin.url}/unstored/1k/{name}-{i}")
            yield get(f"{origin.url}/unstored/1k/{popular}")
        if i % 4 == 0:
            yield get(f"{origin.url}/stored/10k/{name}-{i}")
        if i % 10 == 0:
            yield get(f"{origin.url}/stale/1k/{popular}")
            yield get(f"{origin.url}/stored/1k/{popular}", 'If-None-Match: "one"\r\n')
        if i % 50 == 0:
            yield get(f"{origin.url}/stored/100k/{popular}", "Range: bytes=100-999\r\n")
            yield post(f"{origin.url}/unstored/1k/{i}", "hello")
        if i % 300 == 0:
            yield get(f"{origin.url}/unstored/2m/{i}")


def together(*tasks):
    failed = []

    def run(task):
        try:
            task()
        except BaseException as error:  # sys.exit() of a thread ends only that thread
            failed.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        sys.exit(str(failed[0]))


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        origin = Origin()
        disk = {"path": str(folder / "cache"), "size": "1GiB"}
        near = Proxy(program, folder, "near", {"cache": {"memory": "64MiB"}})
        proxy = Proxy(program, folder, "proxy", {
            "cache": {"memory": "16MiB", "disk": disk},
            "digest": {"prefer": "neighbours"},
            "peers": [{"name": "near", "url": f"http://127.0.0.1:{near.port}"}]})
        # What the neighbour has, so that some misses are answered by it.
        ask(near, (get(f"{origin.url}/stored/{size}/{i}") for i in range(200) for size in ("1k", "10k")))
        together(*(lambda client=client: ask(proxy, everyday(origin, client)) for client in range(6)))
        ask(proxy, (get(f"{origin.url}/stored/1k/{i % 8}") for i in range(4000)))
        ask(proxy, (get(f"{origin.url}/stored/1k/{i % 8}") for i in range(4000)), at_once=16)
        for one in (proxy, near):
            one.end()


if __name__ == "__main__":
    main(sys.argv[1])
