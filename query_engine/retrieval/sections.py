"""Widen the leaves that were found to the sections around them: what a language model reads.

Flow: passages of `merging/` -> **here** -> `prompting/builder.py`. Children find, parents are read: a section is the
parent of a leaf in the tree, or where that is long the blocks around the leaf. Quotes are made from passages.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from index.documents.span_tree import NO_PARENT, chunk_id, split_node_id
from index.documents.store import StoredDocument
from index.documents.structure import stripped
from query_engine.schema.hit import LeafHit
from query_engine.schema.passage import DocumentKey, Passage
from query_engine.schema.source import Source

LEAVES_K = 60
# A longer parent is not read whole; blocks are never cut, so a section may be somewhat longer. Where there is little
# room, several shorter ones find more: a section takes a share of it at most.
SECTION_CHARS = 1000
SECTION_SHARE = 8
# An item, a row or a block of code that is longer may be cut.
BLOCK_CHARS = 1500

DocumentOf = Callable[[Passage], StoredDocument | None]


@dataclass(slots=True)
class _Section:
    passage: Passage  # that the best of its leaves was found in
    document: StoredDocument
    start: int
    end: int
    hits: list[LeafHit] = field(default_factory=list)

    def source(self) -> Source:
        document, structure = self.document, self.document.structure
        first = structure.place(self.start)
        inside = structure.between(self.start, self.end)
        block = structure.blocks[first] if structure else None
        is_headless = block is not None and block.kind == "row" and not block.header
        passage = replace(
            stretch(self.passage, document, self.start, self.end),
            hits=tuple(self.hits),
            merged="the section around what was found",
        )
        headings = structure.heading_path(first, document.text) if inside else ()
        return Source(passage, headings, block.columns if block is not None and is_headless else ())


def stretch(found: Passage, document: StoredDocument, start: int, end: int) -> Passage:
    """Return the stretch `[start, end)` of the document that a passage was found in, with that passage's scores."""
    return replace(
        found,
        chunk_id=chunk_id(document.doc_id, document.tree.ordinal_at(start)),
        level="span",
        start=start,
        end=end,
        pages=document.pages_of(start, end),
        text=document.text[start:end],
        hits=(),
        merged="",
        alone="",
        **document.origin(start),
    )


def sections(passages: Sequence[Passage], document_of: DocumentOf, budget_chars: int) -> tuple[Source, ...]:
    """Return the sections around the first `LEAVES_K` leaves, as far as there is room for them.

    Args:
        passages: best first; their hits are the leaves.
        document_of: the stored document of a passage; None if it has gone.
        budget_chars: of all sections together.

    Returns:
        The best document first, the sections of each in its own order. No text stands there twice.
    """
    chosen: list[_Section] = []
    seen: set[str] = set()
    room, most = budget_chars, min(SECTION_CHARS, budget_chars // SECTION_SHARE)
    for passage, hit in _leaves(passages):
        document = document_of(passage)
        if document is None or not document.text.startswith(passage.text, passage.start):
            document = _alone(passage)
        holder = next((one for one in chosen if _holds(one, document, hit)), None)
        if holder is not None:
            holder.hits.append(hit)
            continue
        start, end = _around(document, hit, most)
        words = " ".join(document.text[start:end].split())
        if not words or words in seen:
            continue
        touching = [one for one in chosen if _touches(one, document, start, end)]
        union = (min([start, *(one.start for one in touching)]), max([end, *(one.end for one in touching)]))
        more = union[1] - union[0] - sum(one.end - one.start for one in touching)
        if more > room and chosen:
            continue
        seen.add(words)
        room -= more
        if not touching:
            chosen.append(_Section(passage, document, start, end, [hit]))
            continue
        first, *others = touching
        first.start, first.end = union
        first.hits += [one for other in others for one in other.hits] + [hit]
        chosen = [one for one in chosen if one not in others]
    return tuple(one.source() for one in _in_order(chosen))


def _leaves(passages: Sequence[Passage]) -> Iterator[tuple[Passage, LeafHit]]:
    """Yield the leaves that a search found, in the order of their passages; a passage that names none is one itself."""
    count = 0
    for passage in passages:
        placed = [hit for hit in passage.hits if hit.end > hit.start]
        for hit in placed or [LeafHit(passage.node_id, passage.score, start=passage.start, end=passage.end)]:
            if count < LEAVES_K:
                yield passage, hit
            count += 1


def _alone(passage: Passage) -> StoredDocument:
    """Stand in for a document that has changed since: the passage's own text at its place."""
    text = "\n" * passage.start + passage.text
    return StoredDocument(passage.doc_id, passage.title, text, passage.url, corpus=passage.corpus).structured()


def _around(document: StoredDocument, hit: LeafHit, most: int) -> tuple[int, int]:
    """Return the span of the section around a leaf, of some `most` characters, without the space around it."""
    low, high = _parent(document, hit)
    blocks = document.structure.blocks
    inside = document.structure.between(hit.start, hit.end)
    if not inside:
        return low, high
    first, last = inside[0], inside[-1]
    start, end = _edges(document, (hit.start, hit.end), first, last)
    if high - low <= most:
        around = document.structure.between(low, high)
        first, last = around[0], around[-1]
        outer = _edges(document, (low, high), first, last)
        start, end = min(start, outer[0]), max(end, outer[1])
    else:
        # What follows explains more often than what stands before.
        grows = True
        while grows:
            grows = False
            if last + 1 < len(blocks) and blocks[last].end < high and blocks[last + 1].end - start <= most:
                last, end, grows = last + 1, blocks[last + 1].end, True
            if first > 0 and blocks[first].start > low and end - blocks[first - 1].start <= most:
                first, start, grows = first - 1, blocks[first - 1].start, True
    # A heading belongs to what stands below it, and a lead-in ends at what it announces.
    while last > first and blocks[last].kind == "heading" and end == blocks[last].end:
        last, end = last - 1, blocks[last - 1].end
    if document.text[start:end].rstrip().endswith(":") and last + 1 < len(blocks):
        end = min(blocks[last + 1].end, end + most)
    return stripped(document.text, start, end)


def _parent(document: StoredDocument, hit: LeafHit) -> tuple[int, int]:
    """Return the span of a leaf's parent in the tree; its own where it has none."""
    position = split_node_id(hit.node_id)[1]
    if position < len(document.tree):
        span = document.tree[position]
        above = document.tree[span.parent] if span.parent != NO_PARENT else span
        if above.start <= hit.start and hit.end <= above.end:
            return above.start, above.end
    return hit.start, hit.end


def _edges(document: StoredDocument, span: tuple[int, int], first: int, last: int) -> tuple[int, int]:
    """Return a span, widened to whole blocks: a list item, a row, code; long ones stay cut as they are."""
    blocks = document.structure.blocks
    start = blocks[first].start if blocks[first].end - blocks[first].start <= BLOCK_CHARS else span[0]
    end = blocks[last].end if blocks[last].end - blocks[last].start <= BLOCK_CHARS else span[1]
    return start, end


def _holds(section: _Section, document: StoredDocument, hit: LeafHit) -> bool:
    same = section.document.version == document.version and section.document.doc_id == document.doc_id
    return same and section.start <= hit.start and hit.end <= section.end + 1


def _touches(section: _Section, document: StoredDocument, start: int, end: int) -> bool:
    if section.document.version != document.version or section.document.doc_id != document.doc_id:
        return False
    between = document.text[min(section.end, end) : max(section.start, start)]
    return (section.start <= end and start <= section.end) or not between.strip()


def _in_order(chosen: Sequence[_Section]) -> list[_Section]:
    ranks: dict[DocumentKey, int] = {}
    for section in chosen:
        ranks.setdefault((section.document.corpus, section.document.doc_id), len(ranks))
    return sorted(chosen, key=lambda one: (ranks[one.document.corpus, one.document.doc_id], one.start))
