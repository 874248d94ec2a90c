"""Unpack the RTF body of an Outlook mail, as [MS-OXRTFCP] compresses it.

Flow: `msg.py` -> **here** -> `office/rtf.py`. Pure; the result is at most nine times as long.
"""

from errors import UnreadableError

_HEADER_BYTES = 16
_COMPRESSED, _PLAIN = b"LZFu", b"MELA"
# What a reference may point to before anything is written.
_BEGIN = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
# References count in a ring of this size.
_RING_BYTES = 4096
_SHORTEST = 2


def unpacked_rtf(data: bytes) -> bytes:
    """Return the RTF text; that of cut data as far as it goes.

    Raises:
        UnreadableError: it is not compressed in this way.
    """
    kind, packed = data[8:12], data[_HEADER_BYTES:]
    if kind == _PLAIN:
        return packed
    if kind != _COMPRESSED:
        raise UnreadableError("The text of the mail is damaged.", "Save it again as HTML or plain text.")
    written = bytearray(_BEGIN)
    place = 0
    while place < len(packed):
        flags = packed[place]
        place += 1
        for bit in range(8):
            if place >= len(packed):
                break
            if not flags >> bit & 1:
                written.append(packed[place])
                place += 1
                continue
            reference = int.from_bytes(packed[place : place + 2], "big")
            place += 2
            back = (len(written) - (reference >> 4)) % _RING_BYTES
            if back == 0:  # a reference to the next byte is the end
                return bytes(written[len(_BEGIN) :])
            if back > len(written):
                raise UnreadableError("The text of the mail is damaged.", "Save it again as HTML or plain text.")
            for _ in range((reference & 15) + _SHORTEST):
                written.append(written[-back])
    return bytes(written[len(_BEGIN) :])
