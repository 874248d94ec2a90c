"""The reader as PyTorch sees it: an encoder that reads question and passage together, and three scores a token.

Flow: `examples.py` -> **here** -> `fit.py` trains it, `export.py` writes it for `query_engine/reader/model.py`.
Question answering and choosing sentences as labels of tokens follow Devlin et al., 2019 (arXiv 1810.04805, section 4.2)
and Provence (Chirkova et al., 2025, arXiv 2501.16214): a sentence's score is the mean of its tokens' scores.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoModel

# Scores of a token: it stands in a sentence that answers (at the first token: the passage answers), an answer's words
# begin with it, end with it.
ANSWERS, BEGINS, ENDS = range(3)
SCORES = 3
NEARNESS = 1.0


class Reader(torch.nn.Module):
    """A BERT-like encoder, a linear layer, and how near each token is to the question.

    The encoder's vectors carry meaning before any training: the similarity of a token to the question's mean vector
    begins as the score of `ANSWERS`, and training has to learn only what is better.

    Args:
        folder: of the encoder, in Hugging Face's format.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
        self.scores = torch.nn.Linear(self.encoder.config.hidden_size, SCORES)
        torch.nn.init.normal_(self.scores.weight, std=0.005)
        torch.nn.init.zeros_(self.scores.bias)
        self.nearness = torch.nn.Parameter(torch.tensor(NEARNESS))

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        """Return logits, shape (batch, tokens, `SCORES`)."""
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        # The segment of token type 0 is the question.
        asked = ((1 - token_type_ids) * attention_mask).unsqueeze(2).to(hidden)
        question = (hidden * asked).sum(dim=1, keepdim=True) / asked.sum(dim=1, keepdim=True)
        question = torch.nn.functional.normalize(question, dim=2)
        near = (hidden * question).sum(dim=2, keepdim=True)
        logits: torch.Tensor = self.scores(hidden) + torch.cat([self.nearness * near, 0 * near, 0 * near], dim=2)
        return logits


def unit_means(scores: torch.Tensor, units: torch.Tensor, count: int) -> torch.Tensor:
    """Return the mean score of each unit's tokens, shape (batch, count).

    Args:
        scores: of tokens, shape (batch, tokens).
        units: the unit of each token, shape (batch, tokens); -1 for tokens of none.
        count: of units at most.
    """
    index = units.clamp(min=0)
    inside = (units >= 0).to(scores)
    total = torch.zeros(scores.shape[0], count).scatter_add_(1, index, scores * inside)
    number = torch.zeros(scores.shape[0], count).scatter_add_(1, index, inside)
    return total / number.clamp(min=1)


def padded(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    """Return rows of unequal length as one tensor."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])
