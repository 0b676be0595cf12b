"""Random small instances for property tests: tight in time and memory, with many ties."""

from __future__ import annotations

from hypothesis import strategies as st

from instances import Instance, User
from tests.helpers import make_instance, make_user

#: Grids with and without the half, one with nothing but the ends, one of no round binary shares.
GRIDS = st.sampled_from([(0.0, 1.0), (0.0, 0.5, 1.0), (0.0, 0.25, 0.75, 1.0), (0.0, 0.3, 0.9, 1.0)])
#: Seconds, each a short decimal, so that it may be scaled exactly.
SECONDS = st.integers(1, 80).map(lambda quarters: quarters / 4)


@st.composite
def users(draw: st.DrawFn, name: str = "new") -> User:
    """A user whom memory, deadline or link may keep from being served."""
    return make_user(
        name,
        input_tokens=draw(st.integers(1, 6)),
        output_tokens=draw(st.integers(1, 8)),
        deadline_s=draw(SECONDS),
        acceptance_rate=draw(st.sampled_from([0.0, 0.25, 0.5, 0.8, 1.0])),
        uplink_bps_per_hz=draw(st.sampled_from([0.5, 4.0, 1000.0])),
        downlink_bps_per_hz=draw(st.sampled_from([2.0, 1e9])),
    )


@st.composite
def instances(draw: st.DrawFn, most: int = 6) -> Instance:
    """An instance of unit models (12 B of weights, 4 B a cached token) with up to `most` users."""
    drawn = [draw(users(f"u{k}")) for k in range(draw(st.integers(0, most)))]
    alpha, beta = st.sampled_from([0.0, 1e-3, 2e-2]), st.sampled_from([0.0, 0.125, 1.0])
    return make_instance(
        *drawn,
        memory_bytes=draw(st.integers(20, 400)),
        alpha_llm=draw(alpha),
        alpha_slm=draw(alpha),
        beta_llm=draw(beta),
        beta_slm=draw(beta),
        draft_length=draw(st.integers(1, 3)),
        z_grid=draw(GRIDS),
        lambda_grid=draw(GRIDS),
    )
