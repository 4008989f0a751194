"""The model that ships with the package."""

from numbad.models import PREDATOR_PREY, load_model


def test_the_shipped_model():
    model = load_model(PREDATOR_PREY)
    assert list(model.p0.items()) == [
        ("prey_growth", 0.5),
        ("predation", 0.03),
        ("predator_death", 0.8),
        ("conversion", 0.02),
    ]
    assert model.y0 == {"hare": 30.0, "lynx": 4.0}
    assert model.fit_y0
    assert model.options == {"scale": "log", "time": "year"}
    assert model.rhs(0.0, (2.0, 3.0), 0.5, 0.25, 1.0, 0.125) == (-0.5, -2.25)
