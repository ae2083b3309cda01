"""The peer of the training benchmark: the same model and loss as one would write it with torch_geometric.

Two ``GCNConv`` layers with the normalised edges cached, dense attributes, full batch, Adam 1e-3. Nothing else
is left out or added: same depth, widths, centre, loss, λ and number of epochs as the detector beside it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels


def fit_reference(
    graph: Graph,
    labels: Labels,
    *,
    lambda_: float,
    epochs: int,
    k: int = 32,
    width: int = 32,
    seed: int = 0,
    on_epoch: Callable[[], object] = lambda: None,
) -> FloatArray:
    """Scores of all nodes after so many epochs; ``on_epoch`` is called after each."""
    torch.manual_seed(seed)
    model = _model(graph.n_features, width, k)
    x = torch.tensor(graph.x.toarray() if sp.issparse(graph.x) else np.array(graph.x))
    pairs = sp.coo_array(graph.adjacency)
    edges = torch.tensor(np.vstack([pairs.row, pairs.col]).astype(np.int64))
    normal, anomalous = torch.tensor(labels.normal), torch.tensor(labels.anomalous)
    with torch.no_grad():
        centre = model(x, edges)[normal].mean(dim=0)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        optimiser.zero_grad()
        scores = (model(x, edges) - centre).square().sum(dim=1)
        _loss(scores[normal], scores[anomalous], lambda_).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        on_epoch()
    with torch.no_grad():
        scores = (model(x, edges) - centre).square().sum(dim=1)
    found: FloatArray = scores.numpy()
    return found


def _loss(normal: Tensor, anomalous: Tensor, lambda_: float) -> Tensor:
    return normal.mean() - lambda_ * torch.sigmoid(anomalous[:, None] - normal[None, :]).mean()


def _model(features: int, width: int, k: int) -> Any:
    with warnings.catch_warnings():  # its import meets a deprecation in torch
        warnings.simplefilter("ignore", DeprecationWarning)
        from torch_geometric.nn import GCNConv

    class Gcn(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = GCNConv(features, width, cached=True, bias=False)
            self.second = GCNConv(width, k, cached=True, bias=False)

        def forward(self, x: Tensor, edges: Tensor) -> Tensor:
            hidden = torch.relu(self.first(x, edges))
            embedding: Tensor = self.second(hidden, edges)
            return embedding

    return Gcn()
