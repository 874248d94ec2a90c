"""Look for threads that are left behind."""

import threading


def question_threads_end(timeout_s: float = 5.0) -> bool:
    """Say whether all threads of questions end; those that have set their result may need a moment."""
    running = [thread for thread in threading.enumerate() if thread.name == "question"]
    for thread in running:
        thread.join(timeout_s)
    return not any(thread.is_alive() for thread in running)
