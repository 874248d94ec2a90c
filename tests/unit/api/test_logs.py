"""What is logged of requests."""

import logging

from api.logs import without_query


def test_no_query_is_logged() -> None:
    args = ("127.0.0.1:5000", "GET", "/task/chat/c1?message=What+is+my+salary", "1.1", 200)
    record = logging.LogRecord("uvicorn.access", logging.INFO, "", 1, '%s - "%s %s HTTP/%s" %d', args, None)

    assert without_query(record)
    assert record.getMessage() == '127.0.0.1:5000 - "GET /task/chat/c1 HTTP/1.1" 200'
