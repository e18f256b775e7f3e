import json

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import _messages_delta_reducer, add_messages

from runbook_lib import charts
from runbook_lib.checkpoints import measure, predict
from runbook_lib.widgets.checkpoint_explorer import CheckpointExplorer


def run(k=None, saver="memory", at=(2,)):
    channel = add_messages if k is None else DeltaChannel(_messages_delta_reducer, snapshot_frequency=k)
    return measure(channel, saver, 4, 100, at=at)


@pytest.mark.parametrize("draw", [charts.growth, charts.per_turn])
def test_charts_say_in_words_what_they_show(draw):
    runs = [run(), run(2)]
    chart = draw("How it grows", runs)
    data, metadata = chart._repr_mimebundle_()
    assert metadata["image/png"]["alt"].startswith("How it grows")
    assert data["text/plain"] == repr(chart)
    assert "memory, K=2" in repr(chart)
    assert "4 turns" in repr(chart)
    assert len(chart.png) < 60_000
    assert chart.png == draw("How it grows", runs).png


def test_trade_off_is_drawn_by_k():
    chart = charts.trade_off("K", [run(3, "sqlite"), run(1, "sqlite")])
    assert repr(chart).splitlines()[0].split() == ["K=1", "K=3"]
    assert [line.split("  ")[0] for line in repr(chart).splitlines()[1:]] == [
        "MB stored, logical",
        "rows read",
        "statements sent",
    ]
    with pytest.raises(ValueError, match="no K"):
        charts.trade_off("K", [run()])


def test_charts_refuse_what_they_cannot_draw():
    with pytest.raises(ValueError, match="at least one"):
        charts.growth("empty", [])
    with pytest.raises(ValueError, match="same sample points"):
        charts.growth("mixed", [run(), run(at=(3,))])


def test_explorer_draws_the_formula_and_the_measured_points():
    view = CheckpointExplorer([run(), run(2), run(3)], saver="memory", turns=4, message_bytes=100, k=2)
    assert view._curves[-1] == [4, *(predict("memory", 4, 100, k=k).sizes.bytes for k in (None, 2))]
    assert {label for *_, label in view._points} == {"full", "K=2"}
    assert {turn for turn, *_ in view._points} == {2, 4}
    view.k = 3
    assert {label for *_, label in view._points} == {"full", "K=3"}
    view.saver = "postgres"
    assert view._points == []
    assert view._summary.startswith("postgres, 4 turns")


def test_explorer_says_the_same_without_a_browser():
    view = CheckpointExplorer(saver="sqlite", turns=100, k=10)
    data, _ = view._repr_mimebundle_()
    assert repr(view) == repr(CheckpointExplorer(saver="sqlite", turns=100, k=10))
    assert f"{predict('sqlite', 100, k=10).sizes.bytes:,}" in repr(view)
    assert f"{predict('sqlite', 100, k=10).sizes.bytes:,}" in data["text/html"]
    json.dumps([view._curves, view._points])


def test_explorer_refuses_unknown_savers():
    with pytest.raises(Exception, match="saver"):
        CheckpointExplorer(saver="redis")


def test_no_two_of_thirty_series_look_alike():
    styles = [tuple(style.values()) for _, style in charts._styled([run()] * 30)]
    assert len(set(styles)) == 30


@pytest.mark.parametrize("draw", [charts.growth, charts.per_turn, charts.trade_off])
def test_the_legend_is_below_the_axes_and_names_every_series(draw, monkeypatch):
    figures = []
    monkeypatch.setattr(charts, "_chart", lambda figure, *_: figures.append(figure))
    draw("Where the legend is", [run(k) for k in (1, 2, 3, 5)])
    (figure,) = figures
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert [axes.get_legend() for axes in figure.axes] == [None] * len(figure.axes)
    assert legend.get_window_extent().y1 <= min(axes.get_tightbbox().y0 for axes in figure.axes)
    assert len(legend.get_texts()) == (3 if draw is charts.trade_off else 4)


def test_a_logarithmic_axis_has_its_values_as_plain_numbers(monkeypatch):
    figures = []
    monkeypatch.setattr(charts, "_chart", lambda figure, *_: figures.append(figure))
    charts.trade_off("K", [run(k) for k in (1, 10, 11, 1000)])
    for axes in figures[0].axes:
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1,000", "11", "1"]
        assert list(axes.get_xticks(minor=True)) == []


def test_logarithmic_sizes_are_plain_numbers(monkeypatch):
    figures = []
    monkeypatch.setattr(charts, "_chart", lambda figure, *_: figures.append(figure))
    charts.per_turn("One more turn", [run(), run(2)])
    figures[0].draw_without_rendering()
    labels = [tick.get_text() for tick in figures[0].axes[0].get_yticklabels()]
    assert len(labels) > 1
    assert [f"{float(label):g}" for label in labels] == labels
    assert list(figures[0].axes[0].get_yticks(minor=True)) == []
