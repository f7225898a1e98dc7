"""Nodes put together by namespace: few groups, and none that depends on itself."""

from __future__ import annotations

from onnxscript import ir

from polybake.study.inspect.grouping import Group, group_nodes, step_index

HEADER = '<ir_version: 8, opset_import: ["" : 18]>\n'


def groups_of(text: str) -> list[Group]:
    return list(dict.fromkeys(group_nodes(ir.from_onnx_text(HEADER + text).graph).values()))


def shown(groups: list[Group]) -> list[tuple[str, int, int]]:
    return [("/".join(group.path), len(group.nodes), group.times) for group in groups]


def test_equal_layers_are_one_group() -> None:
    """Layers of equal operators are joined under their name; another one stays by itself."""
    text = """
        g (float[N] x) => (float[N] y) {
            ["embed/look"] a = Tanh (x)
            ["encoder/layer.0/one/Relu"] b = Relu (a)  ["encoder/layer.0/two/Add"] c = Add (b, a)
            ["encoder/layer.1/one/Relu"] d = Relu (c)  ["encoder/layer.1/two/Add"] e = Add (d, c)
            ["encoder/layer.2/one/Relu"] f = Relu (e)  ["encoder/layer.2/two/Mul"] h = Mul (f, e)
            ["pooler/Tanh"] y = Tanh (h)
        }"""
    assert shown(groups_of(text)) == [
        ("embed", 1, 1),
        ("encoder/layer", 4, 2),
        ("encoder/layer.2", 2, 1),
        ("pooler", 1, 1),
    ]


def test_what_counts_as_a_layer() -> None:
    """A number alone or after a dot; one that tells operators apart is none."""
    text = """
        g (float[N] x) => (float[N] y) {
            ["blocks/0/Relu"] a = Relu (x)  ["blocks/1/Relu"] b = Relu (a)
            ["sum_1/Neg"] c = Neg (b)  ["sum_2/Neg"] y = Neg (c)
        }"""
    assert shown(groups_of(text)) == [("blocks", 2, 2), ("sum_1", 1, 1), ("sum_2", 1, 1)]


def test_modules_of_a_sequence_are_no_layers() -> None:
    """sentence-transformers' modules are called 0 and 1; the layers within the first are found."""
    text = """
        g (float[N] x) => (float[N] y) {
            ["0/model/Tanh"] a = Tanh (x)
            ["0/model/layer.0/Relu"] b = Relu (a)  ["0/model/layer.1/Relu"] c = Relu (b)
            ["1/Neg"] d = Neg (c)  ["2/Neg"] y = Neg (d)
        }"""
    expected = [("0", 1, 1), ("0/model/layer", 2, 2), ("1", 1, 1), ("2", 1, 1)]
    assert shown(groups_of(text)) == expected


def test_layers_that_lead_out_and_back_stay_apart() -> None:
    """Joining them would make the group depend on itself."""
    text = """
        g (float[N] x) => (float[N] y) {
            ["layers.0/Relu"] a = Relu (x)
            ["between/Tanh"] b = Tanh (a)
            ["layers.1/Relu"] y = Relu (b)
        }"""
    assert shown(groups_of(text)) == [("layers.0", 1, 1), ("between", 1, 1), ("layers.1", 1, 1)]


def test_layers_before_and_behind_another_module_are_two_groups() -> None:
    """Only layers that follow each other share a group."""
    text = """
        g (float[N] x) => (float[N] y) {
            ["layers.0/Relu"] a = Relu (x)  ["layers.1/Relu"] b = Relu (a)
            ["between/Tanh"] c = Tanh (b)
            ["layers.2/Relu"] d = Relu (c)  ["layers.3/Relu"] y = Relu (d)
        }"""
    assert shown(groups_of(text)) == [("layers", 2, 2), ("between", 1, 1), ("layers", 2, 2)]


def test_a_namespace_that_is_left_and_entered_again_is_two_groups() -> None:
    """The nodes of one namespace are apart where another one lies between them."""
    text = """
        g (float[N] x) => (float[N] y) {
            [first] a = Relu (x)
            ["inner/Tanh"] b = Tanh (a)
            [side] c = Neg (x)
            [last] y = Add (b, c)
        }"""
    groups = groups_of(text)
    assert [[node.name for node in group.nodes] for group in groups] == [
        ["first", "side"],
        ["inner/Tanh"],
        ["last"],
    ]


def test_equal_steps_are_not_joined() -> None:
    """Each step of a baked model has a box of its own."""
    text = """
        g (float[N] x) => (float[N] y) {
            ["steps.0/Relu"] a = Relu (x)
            ["steps.1/Relu"] y = Relu (a)
        }"""
    groups = groups_of(text)
    assert shown(groups) == [("steps.0", 1, 1), ("steps.1", 1, 1)]
    assert [step_index(group.path) for group in groups] == [0, 1]


def test_a_small_graph_without_namespaces_is_shown_node_by_node() -> None:
    """There is nothing to fold it by, and room for all."""
    text = "g (float[N] x) => (float[N] y) { a = Relu (x)  b = Relu (a)  y = Add (a, b) }"
    assert len(groups_of(text)) == 3


def test_what_a_subgraph_reads_counts() -> None:
    """A value that only a branch of an If reads leads to the If's group."""
    text = """
        g (bool c, float[N] x) => (float[N] y) {
            ["one/Relu"] a = Relu (x)
            ["two/Tanh"] b = Tanh (a)
            ["one/If"] y = If (c) <
                then_branch = t () => (float[N] p) { p = Neg (b) },
                else_branch = e () => (float[N] q) { q = Neg (x) }
            >
        }"""
    assert shown(groups_of(text)) == [("one", 1, 1), ("two", 1, 1), ("one", 1, 1)]
