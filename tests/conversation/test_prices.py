"""Prices of tokens: by hand from published lists, and compared with the price library."""

import gzip
import warnings
from datetime import UTC, datetime
from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tools.prices
from plait.conversation.prices import Prices, format_unpriced_model
from plait.conversation.prices.table import (
    TABLE,
    ModelPrices,
    find_model_prices,
    iter_listed_names,
    load_price_table,
    parse_price_file,
)
from plait.conversation.usage import Tokens
from plait.errors import ConfigError

DAY = datetime(2026, 11, 2, 9, tzinfo=UTC)
MILLION = 1_000_000
USED = Tokens(
    input=1_000, output=200, cache_write_5m=3_000, cache_write_1h=4_000, cache_read=50_000
)

# Dollars for a million tokens, as Anthropic publishes them: input, output. A write to the
# cache costs 1.25 times the input, for an hour twice, a read a tenth.
PUBLISHED = {
    "claude-opus-4-20250514": (15, 75),
    "claude-opus-4-1-20250805": (15, 75),
    "claude-opus-4-5-20251101": (5, 25),
    "claude-sonnet-4-20250514": (3, 15),
    "claude-sonnet-4-5-20250929": (3, 15),
    "claude-haiku-4-5-20251001": (1, 5),
    "claude-3-5-haiku-20241022": (0.8, 4),
    "claude-3-7-sonnet-20250219": (3, 15),
}


@pytest.fixture(scope="module")
def prices() -> Prices:
    return Prices()


@pytest.mark.parametrize(("model", "rates"), PUBLISHED.items(), ids=list(PUBLISHED))
def test_published_prices(prices: Prices, model: str, rates: tuple[float, float]) -> None:
    into, out = rates
    by_hand = (
        1_000 * into + 200 * out + 3_000 * into * 1.25 + 4_000 * into * 2 + 50_000 * into * 0.1
    ) / MILLION
    assert prices.cost(model, USED, DAY) == pytest.approx(by_hand, abs=1e-12)


def test_a_thousand_searches_cost_ten_dollars(prices: Prices) -> None:
    model = "claude-sonnet-4-5-20250929"
    assert prices.cost(model, Tokens(web_searches=7), DAY) == pytest.approx(0.07)
    assert prices.cost(model, Tokens(web_fetches=7), DAY) == 0


def test_long_context_price_applies_per_response(prices: Prices) -> None:
    model, before = "claude-sonnet-4-5-20250929", datetime(2026, 1, 5, tzinfo=UTC)
    short, long = Tokens(input=150_000, output=1_000), Tokens(input=300_000, output=1_000)
    plain = prices.cost(model, short, before)
    assert plain == pytest.approx((150_000 * 3 + 1_000 * 15) / MILLION)
    assert prices.cost(model, long, before) == pytest.approx((300_000 * 6 + 1_000 * 22.5) / MILLION)
    cached = Tokens(input=1_000, cache_read=250_000)
    assert prices.cost(model, cached, before) == pytest.approx(
        (1_000 * 6 + 250_000 * 0.6) / MILLION
    )


NAMES = {
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": 3.3,  # in one region: a tenth more
    "global.anthropic.claude-sonnet-4-5-20250929-v1:0": 3,
    "arn:aws:bedrock:us-east-1:1:p/global.anthropic.claude-opus-4-5-20251101-v1:0": 5,
    "claude-opus-4-5@20251101": 5,
    "anthropic/claude-sonnet-4.5": 3,
    "claude-opus-4-6[1m]": 5,
}


@pytest.mark.parametrize(("model", "rate"), NAMES.items(), ids=list(NAMES))
def test_provider_prefixed_names_have_prices(prices: Prices, model: str, rate: float) -> None:
    assert prices.cost(model, Tokens(input=1_000), DAY) == pytest.approx(1_000 * rate / MILLION)


def test_names_are_looked_up_with_their_provider() -> None:
    assert next(iter_listed_names("us.anthropic.claude-x-v1:0"))[1] == "aws"
    assert next(iter_listed_names("claude-x@20250514"))[1] == "google"
    assert ("claude-x", "anthropic") in list(iter_listed_names("anthropic/claude-x"))


@pytest.mark.parametrize(
    "tokens",
    [
        Tokens(100, 10, tier="priority"),
        Tokens(100, 10, speed="fast"),
        Tokens(100, 10, geo="mars"),
        Tokens(100, 10, tier="a tier of tomorrow"),
    ],
    ids=lambda tokens: format_unpriced_model("m", tokens),
)
def test_uncovered_usage_is_unpriced(prices: Prices, tokens: Tokens) -> None:
    assert prices.cost("claude-opus-4-6", tokens, DAY) is None
    assert prices.cost("claude-opus-4-6", Tokens(100, 10), DAY) is not None


def test_an_unknown_model_is_not_priced_and_not_looked_up_twice(prices: Prices) -> None:
    assert prices.cost("claude-from-tomorrow-9", Tokens(100, 10), DAY) is None
    assert prices.cards["claude-from-tomorrow-9"] is None
    assert prices.cost(None, Tokens(100, 10), DAY) is None


def test_batch_price_is_half_from_its_date(prices: Prices) -> None:
    batch = Tokens(1_000, 200, tier="batch")
    assert prices.cost("claude-opus-4-5", batch, DAY) == pytest.approx(
        (1_000 * 2.5 + 200 * 12.5) / MILLION
    )
    assert prices.cost("claude-opus-4-5", batch, datetime(2026, 1, 1, tzinfo=UTC)) is None


def test_regional_processing_costs_ten_percent_more(prices: Prices) -> None:
    assert prices.cost("claude-opus-4-6", Tokens(1_000, 200, geo="us"), DAY) == pytest.approx(
        1.1 * (1_000 * 5 + 200 * 25) / MILLION
    )


amounts = st.integers(0, 400_000)
used = st.builds(
    Tokens,
    input=amounts,
    output=amounts,
    cache_write_5m=amounts,
    cache_write_1h=amounts,
    cache_read=amounts,
    web_searches=st.integers(0, 20),
    tier=st.sampled_from((None, None, "batch")),
)
models = st.sampled_from(
    (*PUBLISHED, "claude-opus-4-6", "claude-haiku-5-5", "claude-opus-5-5", "claude-fable-5-1")
)
days = st.datetimes(datetime(2025, 6, 1), datetime(2026, 11, 10), timezones=st.just(UTC))


@given(model=models, tokens=used, when=days)
def test_costs_equal_those_of_the_price_library(
    prices: Prices, model: str, tokens: Tokens, when: datetime
) -> None:
    import genai_prices

    cost = prices.cost(model, tokens, when)
    if cost is None:
        assert tokens.tier == "batch"
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a key that it does not know is free: never use one
        usage = genai_prices.Usage(
            input_tokens=tokens.total_input,
            output_tokens=tokens.output,
            cache_write_tokens=tokens.cache_write,
            cache_write_1h_tokens=tokens.cache_write_1h,
            cache_read_tokens=tokens.cache_read,
            web_searches=tokens.web_searches,
        )
    context = {"processing": "batch"} if tokens.tier else None
    theirs = genai_prices.calc_price(
        usage, model, genai_request_timestamp=when, price_context=context
    )
    assert cost == pytest.approx(float(theirs.total_price), abs=1e-9)


def test_table_matches_the_library() -> None:
    shipped = load_price_table()
    assert shipped.source.startswith(f"genai-prices {version('genai-prices')}, ")
    assert gzip.decompress(TABLE.read_bytes()) == tools.prices.table(shipped.made)
    assert TABLE.with_name("prices.LICENSE").read_text().startswith("The MIT License (MIT)")


WAYS = (
    "{}",
    "{}[1m]",
    "{}-20251101",
    "{}-20250231",
    "{}@20251101",
    "us.anthropic.{}-v1:0",
    "anthropic/{}",
    "openrouter/{}",
    "bedrock/{}",
    "vertex/{}",
    "huggingface-novita/{}",
    "litellm/{}",
    "/{}",
    "nobody/{}",
)


@pytest.mark.parametrize("way", WAYS)
def test_every_model_name_matches_the_library(way: str) -> None:
    from genai_prices.data import providers

    models = [model.id for provider in providers for model in provider.models]
    names = {way.format(written) for one in models[::7] for written in (one, one.upper())}
    names |= {f"{one.id}/{model.id}" for one in providers for model in one.models[::9]}
    assert [name for name in sorted(names) if find_model_prices(name) != their_card(name)] == []


def their_card(name: str) -> ModelPrices | None:
    """Return the card of a model as the library's own search finds it."""
    from genai_prices.data_snapshot import get_snapshot

    for written, provider in iter_listed_names(name):
        try:
            found, model = get_snapshot().find_provider_model(written, None, provider, None)
        except LookupError:
            continue
        listed = tools.prices.make_listed_model(model)
        return ModelPrices(found.id, listed.lists, listed.variants)
    return None


def test_unknown_library_key_only_warns() -> None:
    import genai_prices

    with pytest.warns(UserWarning, match="web_search_requests"):
        genai_prices.Usage(web_search_requests=7)


def test_own_prices_come_first() -> None:
    own = parse_price_file(
        '["claude-opus-4-5"]\ninput = 1\noutput = 2\n["glm-*"]\ninput = 10\noutput = 20\n'
        'cache_read = 3\n["claude-opus-4-6 (fast)"]\ninput = 30\noutput = 150\n',
        "prices.toml",
    )
    prices = Prices(own)
    assert prices.cost("claude-opus-4-5", Tokens(1_000, 100), DAY) == pytest.approx(0.0012)
    assert prices.cost("glm-4.7", Tokens(1_000, 100), DAY) == pytest.approx(0.012)
    assert prices.cost("glm-4.7", Tokens(cache_read=1_000), DAY) == pytest.approx(0.003)
    assert prices.cost("glm-4.7", Tokens(cache_write_1h=1_000), DAY) == pytest.approx(0.02)
    fast = prices.cost("claude-opus-4-6", Tokens(1_000, 100, speed="fast"), DAY)
    assert fast == pytest.approx(0.045)


def test_own_prices_may_be_json() -> None:
    own = parse_price_file('{"m": {"input": 1, "output": 2}}', "prices.json")
    assert Prices(own).cost("m", Tokens(1_000_000), DAY) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[", "cannot read the prices in 'p': "),
        ('{"m": ', "cannot read the prices in 'p': "),
        ('m = "cheap"', "'m' in 'p' is not a table of prices"),
        ("[m]\ninput = 1", "'m' in 'p' has no price for output"),
        ("[m]\ninput = 1\noutputs = 2", "unknown price 'outputs' for 'm' in 'p'"),
        ('[m]\ninput = "1"\noutput = 2', "the price 'input' for 'm' in 'p' must be a number"),
        ("[m]\ninput = -1\noutput = 2", "the price 'input' for 'm' in 'p' must be a number"),
        ("[m]\ninput = nan\noutput = 2", "the price 'input' for 'm' in 'p' must be a number"),
    ],
)
def test_invalid_price_file_is_a_settings_error(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_price_file(text, "p")
    assert raised.value.message.startswith(message)
    assert raised.value.hints


def test_price_tables_differ_by_content_and_order() -> None:
    one, other = '"a*": {"input": 1, "output": 1}', '"*b": {"input": 2, "output": 2}'
    texts = f"{{{one}, {other}}}", f"{{{other}, {one}}}"
    one, other = (Prices(parse_price_file(text, "p")).fingerprint for text in texts)
    assert len({one, other, Prices().fingerprint}) == 3
    assert Prices(parse_price_file(texts[0], "p")).fingerprint == one
