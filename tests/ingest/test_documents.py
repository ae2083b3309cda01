"""GraphML, GEXF, node-link and Cytoscape JSON, written by networkx or as other tools write them."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

from gadcore.errors import InputError
from gadcore.ingest import Mapping, read, read_graph

from .files import assert_well_formed, club, edge_weights, networkx_weights, own_features, write


def save(graph: nx.Graph, folder: Path, kind: str) -> Path:
    path = folder / f"graph.{kind.rpartition('-')[2]}"
    if kind == "graphml":
        nx.write_graphml(graph, path)
    elif kind == "gexf":
        nx.write_gexf(graph, path)
    elif kind == "cytoscape-json":
        write(path, json.dumps(nx.cytoscape_data(graph)))
    else:
        write(path, json.dumps(nx.node_link_data(graph, edges=kind.split("-")[0])))
    return path


KINDS = ["graphml", "gexf", "links-json", "edges-json", "cytoscape-json"]


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip_from_networkx(tmp_path: Path, kind: str) -> None:
    original = club()
    graph = read_graph(save(original, tmp_path, kind))
    assert_well_formed(graph)
    assert list(graph.node_ids) == list(original)
    assert edge_weights(graph) == networkx_weights(original)
    assert set(graph.feature_columns) == {"club", "age", "score", "active", "town"}
    assert graph.node_table["age"].tolist() == [d["age"] for _, d in original.nodes(data=True)]
    assert "town=Łódź" in graph.feature_names


@pytest.mark.parametrize("kind", KINDS)
def test_all_formats_give_the_same_edges_and_columns(tmp_path: Path, kind: str) -> None:
    original = club()
    graph = read_graph(save(original, tmp_path, kind))
    reference = read_graph(save(original, tmp_path, "links-json"))
    assert sorted(graph.feature_names) == sorted(reference.feature_names)
    assert (graph.adjacency != reference.adjacency).nnz == 0


@pytest.mark.parametrize("kind", KINDS)
def test_directed_multigraph_with_loops(tmp_path: Path, kind: str) -> None:
    original = nx.MultiDiGraph()
    original.add_nodes_from("abcd")
    original.add_weighted_edges_from([("a", "b", 1), ("a", "b", 3), ("b", "a", 2), ("c", "c", 1)])
    reading = read(save(original, tmp_path, kind))
    assert edge_weights(reading.graph) == {frozenset("ab"): 3.0}
    assert reading.graph.n_nodes == 4
    notes = " ".join(reading.report.notes)
    assert "self-loop" in notes
    assert "without an edge kept" in notes


@pytest.mark.parametrize("kind", ["links-json", "cytoscape-json", "graphml"])
def test_number_ids_become_text(tmp_path: Path, kind: str) -> None:
    graph = read_graph(save(nx.path_graph(4), tmp_path, kind))
    assert list(graph.node_ids) == ["0", "1", "2", "3"]
    assert graph.n_edges == 3
    assert graph.attribute_free


def test_mapping_chooses_truth_weight_and_attributes(tmp_path: Path) -> None:
    original = club()
    mapping = Mapping(truth="active", attributes=("age",), weight="")
    reading = read(save(original, tmp_path, "graphml"), mapping=mapping)
    assert own_features(reading.graph) == ("age",)
    assert reading.truth is not None
    assert int(reading.truth.y.sum()) == 12
    assert "active" not in reading.graph.node_table
    assert set(edge_weights(reading.graph).values()) == {1.0}


def test_edges_without_weight_count_as_one(tmp_path: Path) -> None:
    original = nx.Graph([("a", "b", {"weight": 4}), ("b", "c")])
    graph = read_graph(save(original, tmp_path, "links-json"))
    assert edge_weights(graph) == {frozenset("ab"): 4.0, frozenset("bc"): 1.0}


def test_d3_links_by_position(tmp_path: Path) -> None:
    data = {"nodes": [{"name": "ann"}, {"name": "bob"}], "links": [{"source": 0, "target": 1, "value": 3}]}
    graph = read_graph(write(tmp_path / "miserables.json", json.dumps(data)))
    assert set(edge_weights(graph)) == {frozenset(("ann", "bob"))}


def test_flat_cytoscape_elements(tmp_path: Path) -> None:
    elements = [
        {"group": "nodes", "data": {"id": "a", "name": "Ann"}},
        {"data": {"id": "b", "name": "Bob"}},
        {"group": "edges", "data": {"id": "e", "source": "a", "target": "b", "weight": 2}},
    ]
    for k, data in enumerate((elements, {"elements": elements})):
        graph = read_graph(write(tmp_path / f"{k}.cyjs", json.dumps(data)))
        assert edge_weights(graph) == {frozenset("ab"): 2.0}
        assert graph.display_name(0) == "Ann"


def test_yed_labels_and_key_defaults(tmp_path: Path) -> None:
    text = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
    <key id="d0" for="node" attr.name="colour"><default>blue</default></key><key id="d1" for="node"/>
    <graph edgedefault="directed"><node id="n0"><data key="d0">red</data>
    <data key="d1"><y:ShapeNode><y:NodeLabel>Ann</y:NodeLabel></y:ShapeNode></data></node>
    <node id="n1"><graph><node id="n1::n0"/></graph></node>
    <edge source="n0" target="n1::n0"/></graph></graphml>"""
    graph = read_graph(write(tmp_path / "y.graphml", text))
    assert sorted(graph.node_ids) == ["n0", "n1", "n1::n0"]
    assert graph.display_name(graph.index_of("n0")) == "Ann"
    assert sorted(graph.node_table["colour"]) == ["blue", "blue", "red"]


def test_gexf_lists_are_tags(tmp_path: Path) -> None:
    text = """<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph>
    <attributes class="node"><attribute id="0" title="likes" type="liststring"/></attributes>
    <nodes><node id="a" label="Ann"><attvalues><attvalue for="0" value="x|y"/></attvalues></node>
    <node id="b" label="Bob"><attvalues><attvalue for="0" value="y"/></attvalues></node></nodes>
    <edges><edge source="a" target="b" weight="2"/></edges></graph></gexf>"""
    graph = read_graph(write(tmp_path / "g.gexf", text))
    assert graph.feature_names == ("likes=y", "likes=x")
    assert graph.display_name(1) == "Bob"
    assert edge_weights(graph) == {frozenset("ab"): 2.0}


BOMB = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<graphml><graph><node id="&b;"/></graph></graphml>"""


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bomb.graphml", BOMB, "document type or an entity"),
        ("bomb.gexf", BOMB.replace("graphml", "gexf"), "document type or an entity"),
        ("cut.graphml", "<graphml>\n<graph>\n<node id='a'/>\n", r"line 4: not well-formed"),
        (
            "noid.graphml",
            "<graphml><graph>\n<node/></graph></graphml>",
            r"line 2: <node> has no attribute 'id'",
        ),
        ("none.gexf", "<gexf><graph></graph></gexf>", "holds no node"),
        ("hyper.graphml", "<graphml><graph><hyperedge/></graph></graphml>", "hyperedge"),
        ("deep.graphml", "<graphml>" + "<graph>" * 300, "levels deep"),
        ("cut.json", '{"nodes": [', "not readable JSON"),
        ("deep.json", "[" * 100_000, "not readable JSON"),
        ("other.json", '{"people": []}', "an object with 'people'"),
        ("list.json", "[1, 2]", "holds a list"),
        ("node.json", '{"nodes": [3], "links": []}', "node 1 is '3'"),
        ("end.json", '{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "edge 1 has no 'target'"),
        (
            "dup.json",
            '{"nodes": [{"id": 1}, {"id": "1"}], "links": []}',
            "node 2: node id '1' was already used",
        ),
        (
            "lost.json",
            '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 7}]}',
            "end outside the node table",
        ),
        (
            "neg.json",
            '{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2, "weight": -1}]}',
            "edge 1: weight -1",
        ),
    ],
)
def test_broken_documents_are_explained(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(write(tmp_path / name, text))
    assert name in str(caught.value)
