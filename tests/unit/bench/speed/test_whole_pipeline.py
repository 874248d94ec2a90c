from bench.speed.whole_pipeline import WholePipeline, first_example, measure, table
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.pipelines import TEXTS, an_engine, fake_pipelines, fake_services


def test_the_example_of_the_guide_is_run_for_every_question() -> None:
    engine = an_engine([*TEXTS, "Snow.", "Ice.", "Fog."])
    pipelines = fake_pipelines(services=fake_services(engine))
    answering = FakeEngine([a_done()])

    measured = measure(answering, pipelines.tasks, ["What turns blades?", "What falls?"])  # type: ignore[arg-type]

    assert measured.questions == 2
    assert min(measured.retrieve_ms, measured.answer_ms, measured.pipeline_ms, measured.known_ms, measured.ratio) > 0
    asked = ["What turns blades? Tell me.", "What turns blades?", "What falls?"]
    assert sorted(set(engine.questions)) == sorted(asked)
    assert answering.started == len(asked)
    pipelines.close()


def test_the_example_is_the_one_that_the_guide_begins_with() -> None:
    assert first_example()["1"]["id"] == "corpus_datasource"


def test_the_table_shows_the_ratio_and_its_limit() -> None:
    assert "| 65 | 16 | 420 | 700 | 60 | 1.61 | 3 |" in table(WholePipeline(65, 16.2, 420.0, 700.1, 60.0, 1.611))
