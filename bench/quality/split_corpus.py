"""A corpus divided into several, document by document, without embedding anything.

Flow: an ingested corpus -> **here** -> the corpora that `retrieval.py` asks as one, beside the whole.
"""

import shutil
from contextlib import closing
from itertools import islice

import numpy as np

from bench.build import CORPUS, with_index
from eval.progress_bar import tell
from index.build import open_corpus
from index.corpus import joined_name
from index.documents.span_tree import node_id
from query_engine.build import Engines
from query_engine.engine import Engine
from settings import Settings

BATCH = 32


def join_divided(engines: Engines, settings: Settings, set_name: str, count: int) -> Engine:
    """Split the default corpus into `count` new corpora; return an engine that reads all of them.

    Raises:
        RagError: from the stores.
    """
    whole, settings = engines.get().corpus, with_index(settings, set_name)
    names = [f"{CORPUS}-{place + 1}of{count}" for place in range(count)]
    for place, name in enumerate(names):
        tell(f"{name}: part {place + 1} of {count}")
        shutil.rmtree(settings.index.dir / name, ignore_errors=True)
        with closing(open_corpus(name, settings, whole.manifest, create=True)) as part:
            documents = islice(whole.documents.each(), place, None, count)
            while batch := list(islice(documents, BATCH)):
                leaves = [node_id(one.version, position) for one in batch for position in one.tree.leaves]
                vectors = whole.vectors.fetch(leaves)
                part.replace(batch, np.stack([vectors[leaf] for leaf in leaves]))
    return engines.get(joined_name(names))
