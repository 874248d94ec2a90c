"""Write the files of a multipart body to disk as its bytes arrive; no file is ever whole in memory.

Flow: `routes/uploads.py` -> **here**: the body's stream -> python-multipart's parser -> files in a staging folder. The
bytes of a file whose name is refused are skipped.
"""

from contextlib import closing
from io import BufferedWriter
from pathlib import Path

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from errors import StorageError, UploadError
from ingestion.uploads import check_name

MAX_FILES = 1000
MAX_SHOWN_CHARS = 240
HOW = "Send each file as a part of `multipart/form-data`, as `curl -F file=@NAME` does."


async def receive_files(
    request: Request, folder: Path, *, images: bool = False
) -> tuple[list[str], dict[str, UploadError]]:
    """Write the files of a request into an empty folder.

    Args:
        request: its body has not been read.
        folder: empty.
        images: pictures are taken too.

    Returns:
        The names of the written files in order, and why each of the others was refused, by the name that was sent.

    Raises:
        UploadError: the body is not a whole multipart body of 1 to 1,000 files.
        StorageError: the disk is full or refuses.
        HTTPException: 413, the body is too large.
        ClientDisconnect: the client left.
    """
    try:
        with closing(_Receiver(_boundary(request), folder, images=images)) as receiver:
            async for chunk in request.stream():
                await run_in_threadpool(receiver.write, chunk)
            return receiver.end()
    except FormParserError as error:
        raise UploadError("The body is not valid multipart/form-data.", HOW) from error
    except OSError as error:  # the last bytes are written as the file is closed
        raise StorageError(
            f"The upload cannot be written: {error.strerror}.", "Free some space where uploads are kept."
        ) from error


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise UploadError("The body is not multipart/form-data.", HOW)
    return options[b"boundary"]


class _Receiver:
    """Takes the body piece by piece; the parser calls back for each part."""

    def __init__(self, boundary: bytes, folder: Path, *, images: bool) -> None:
        self._folder = folder
        self._images = images
        self._names: list[str] = []
        self._refused: dict[str, UploadError] = {}
        self._file: BufferedWriter | None = None
        self._header = b""
        self._value = b""
        self._disposition = b""
        self._ended = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin_part,
                "on_header_field": self._take_header,
                "on_header_value": self._take_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._open,
                "on_part_data": self._take_data,
                "on_part_end": self.close,
                "on_end": self._end,
            },
        )

    def write(self, data: bytes) -> None:
        """Take the next piece; blocks. Raises OSError if the disk is full or refuses."""
        self._parser.write(data)

    def end(self) -> tuple[list[str], dict[str, UploadError]]:
        """Return the names of the files, and the refusals.

        Raises:
            UploadError: there is no file, or the body was cut off.
        """
        if not self._ended:
            raise UploadError("The multipart body has no end.", HOW)
        if not self._names and not self._refused:
            raise UploadError("The upload holds no file.", HOW)
        return self._names, self._refused

    def close(self) -> None:
        """Close the file that is being written."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin_part(self) -> None:
        self._disposition = b""

    def _take_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _take_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header = self._value = b""

    def _open(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"filename" not in options:
            raise UploadError("A part of the upload is not a file.", f"{HOW} Options belong into the address.")
        if len(self._names) + len(self._refused) == MAX_FILES:
            raise UploadError(f"The upload holds more than {MAX_FILES:,} files.", "Send them in several uploads.")
        try:
            name = self._checked(options[b"filename"])
        except UploadError as error:
            self._refused[options[b"filename"].decode(errors="replace")[:MAX_SHOWN_CHARS]] = error
            return
        self._names.append(name)
        self._file = (self._folder / name).open("xb")

    def _checked(self, sent: bytes) -> str:
        try:
            name = check_name(sent.decode(), images=self._images)
        except UnicodeDecodeError as error:
            raise UploadError("The name of an uploaded file is not UTF-8.", "Give the file another name.") from error
        if name in self._names:
            raise UploadError(f"Two files of the upload are called {name!r}.", "Send them one after the other.")
        return name

    def _take_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])

    def _end(self) -> None:
        self._ended = True
