"""A server that sends exactly the given bytes, for responses that a correct server never sends."""

import contextlib
import socket
import threading
from contextlib import contextmanager


class Raw:
    """Server that sends the next item of `answers` to each connection, and repeats the last item."""

    def __init__(self, *answers, drip_s=0):
        self.answers = list(answers)
        self.drip_s = drip_s
        self.requests = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                self.requests.append(connection.recv(65536))
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if not self.drip_s:
                    connection.sendall(answer)
                    continue
                for byte in answer:
                    if self._ended.wait(self.drip_s):
                        break
                    connection.sendall(bytes([byte]))


@contextmanager
def raw(*answers, drip_s=0):
    server = Raw(*answers, drip_s=drip_s)
    server._thread.start()
    try:
        yield server
    finally:
        server._ended.set()
        with contextlib.suppress(OSError):
            server._socket.shutdown(socket.SHUT_RDWR)
        server._socket.close()
        server._thread.join()
