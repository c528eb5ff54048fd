"""Instances of SNDlib: both formats say the same, a problem is planned as it is named or refused by letter."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from dcplan.api import check, load, plan
from dcplan.api.exchange import import_
from dcplan.errors import UsageError
from dcplan.interop.sndlib.bring import bring, read
from dcplan.model.source import parse

DATA = Path(__file__).parent / "data"
TINY, TINY_XML, POLSKA = DATA / "tiny-sndlib.txt", DATA / "tiny-sndlib.xml", DATA / "polska.txt"
"""Two made by hand; and polska of SNDlib 1.0 (Orlowski, Pióro, Tomaszewski, Wessäly, Networks 55(3), 2010)."""


def topology(made):
    document = parse(made.text, "t.yaml")
    assert not document.problems
    return document.data


def changed(tmp_path, old, new, source=TINY):
    text = source.read_text()
    assert old in text
    file = tmp_path / source.name
    file.write_text(text.replace(old, new))
    return file


def test_native_and_xml_say_the_same():
    native, xml = bring(TINY, None), bring(TINY_XML, None)
    assert native.text.replace("tiny-sndlib.txt", "") == xml.text.replace("tiny-sndlib.xml", "")
    assert native.notes == xml.notes


def test_what_stands_in_the_topology():
    made = topology(bring(TINY, "tiny--U-U-M-Y-C-A-N-U"))
    assert made["sites"] == {
        "a:1": {"lat": 50, "lon": 10}, '"b"': {"lat": 50, "lon": 11}, "c,{}": {"lat": 51, "lon": 10.5}
    }  # fmt: skip
    assert made["circuits"]["L-2"] == {
        "ends": ['"b"', "c,{}"],
        "length_km": 116.7,
        "modules": {"1000": {"gbps": 1, "usd": 120}, "4000": {"gbps": 4, "usd": 300}},
        "existing_gbps": 0.5,
        "build_usd": 30,
    }
    assert made["circuits"]["L-3"]["usd_per_gbps"] == 2000
    # 700 one way and 2 × 400 the other
    assert made["demands"] == {
        "D1": {"between": ['"b"', "a:1"], "gbps": 1.5}, "D3": {"between": ["a:1", "c,{}"], "gbps": 0.25}
    }  # fmt: skip
    assert made["policy"] == {"survive": ["any-fiber"], "scheme": "reroute"}


@pytest.mark.parametrize(
    ("model", "policy", "pick", "build"),
    [
        ("U-U-M-N-C-A-N-N", {"scheme": "none"}, None, None),
        ("u-u-e-n-c-a-n-u", {"survive": ["any-fiber"], "scheme": "reroute"}, "one", None),
        ("U-U-E-Y-C-A-N-P", {"survive": ["any-fiber"], "scheme": "one-plus-one"}, "one", 30),
    ],
)
def test_the_letters_become_policy_and_circuits(model, policy, pick, build):
    made = topology(bring(TINY, model))
    assert made["policy"] == policy
    assert {circuit.get("pick") for circuit in made["circuits"].values()} == {pick}
    assert {circuit.get("build_usd") for circuit in made["circuits"].values()} == {build}


def test_what_does_not_cross_over_is_said():
    said = "\n".join(bring(TINY, None).notes)
    for part in (
        "planned as tiny-sndlib--U-U-M-N-C-A-N-U",
        "in Mbit/s, here in Gb/s",
        "as long as the great circle",
        "1 link (L-2) with capacity that is there already",
        "that is there already, 7, is not in the plan",
        "set-up cost is left out",
        "added up, in 1 of 2 pairs",
        "1 demand (D2) with a limit of hops",
    ):
        assert part in said
    assert "set-up cost" not in "\n".join(bring(TINY, "U-U-M-Y-C-A-N-U").notes)
    assert "routing cost per unit of traffic is left out" in "\n".join(bring(TINY, "U-U-M-N-C-A-N-P").notes)
    assert "routing cost" not in said


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("D-U-M-N-C-A-N-U", "letter 1, demand model D (directed): demands of dcplan are the same both ways"),
        ("U-B-M-N-C-A-N-U", "letter 2, link model B (bidirected)"),
        ("U-D-M-N-C-A-N-U", "letter 2, link model D (directed)"),
        ("U-U-L-N-C-A-N-U", "letter 3, link capacity L (linear): modules are whole; M, S and E are possible"),
        ("U-U-S-N-C-A-N-U", "letter 3, link capacity S (single modular): some link offers several modules"),
        ("U-U-M-N-I-A-N-U", "letter 5, routing I (integer)"),
        ("U-U-M-N-C-E-N-U", "letter 6, admissible paths E (explicit list)"),
        ("U-U-M-N-C-A-Y-U", "letter 7, hop limits Y (individual)"),
        ("U-U-M-N-C-A-N-S", "letter 8, survivability S (shared path protection)"),
        ("U-U-M-N-C-A-N", "a problem has 8 letters, as U-U-M-N-C-A-N-U"),
        ("U-U-X-N-C-A-N-U", "letter 3, link capacity, is X: there is L (linear), M (modular)"),
    ],
)
def test_a_problem_that_cannot_be_planned_is_refused_by_letter(model, why):
    with pytest.raises(UsageError) as refused:
        bring(TINY, model)
    assert why in str(refused.value)


def test_all_letters_that_are_refused_are_named_at_once():
    with pytest.raises(UsageError, match=r"letter 1, .*letter 2, .*letter 5, "):
        bring(TINY, "D-B-M-N-I-A-N-U")


def test_single_modular_is_planned_where_each_link_has_one_module(tmp_path):
    file = tmp_path / "single.txt"
    lines = [
        line.replace(" 4000.00 250.00", "").replace(" 4000.00 300.00", "") for line in TINY.read_text().split("\n")
    ]
    file.write_text("\n".join(line.replace(" 4000.00 260.00", "") for line in lines))
    assert topology(bring(file, "U-U-S-N-C-A-N-U"))["circuits"]["L-1"]["modules"] == {"1000": {"gbps": 1, "usd": 100}}


def test_a_list_on_which_more_costs_less_is_told(tmp_path):
    """As link L39 of nobel-eu, where 420 at 21020 follows 400 at 58700."""
    corrupt = bring(changed(tmp_path, "4000.00 250.00", "4000.00 25.00"), "U-U-E-N-C-A-N-U")
    assert any(
        "more capacity costs less on 1 link (L-1), likely corrupt: L-1: 4000 at 25 after 1000 at 100" in note
        for note in corrupt.notes
    )
    file = tmp_path / "corrupt.yaml"
    file.write_text(corrupt.text)
    assert [str(found.message) for found in check([file])] == [
        "`1000` has no effect: module `4000` gives no less for no more"
    ]
    twice = bring(changed(tmp_path, "4000.00 250.00", "1000.00 80.00"), None)
    assert "link L-1 has capacity 1000 twice: the cheaper one, 80, counts" in twice.notes
    assert topology(twice)["circuits"]["L-1"]["modules"] == {"1000": {"gbps": 1, "usd": 80}}


def test_a_long_list_for_any_mix_is_told(tmp_path):
    longer = changed(tmp_path, "4000.00 250.00", "2000 180 3000 220 4000.00 250.00")
    assert any("lists of up to 4 capacities are planned as any mix (M)" in note for note in bring(longer, None).notes)
    assert not any("any mix" in note for note in bring(longer, "U-U-E-N-C-A-N-U").notes)


def test_capacity_without_limit_stands_for_all_demands(tmp_path):
    made = bring(changed(tmp_path, "4000.00 250.00", "UNLIMITED 250.00"), None)
    assert any("UNLIMITED: it stands as 1.75 Gb/s, all demands together" in note for note in made.notes)
    assert topology(made)["circuits"]["L-1"]["modules"]["inf"] == {"gbps": 1.75, "usd": 250}


def test_pixels_are_placed_where_nobody_takes_them_for_sites(tmp_path):
    made = bring(changed(tmp_path, "( 11.00 50.00 )", "( 1100.00 50.00 )"), None)
    sites = topology(made)["sites"].values()
    assert all(abs(site["lat"]) <= 5 and abs(site["lon"]) <= 5 for site in sites)
    assert {circuit["latency_ms"] for circuit in topology(made)["circuits"].values()} == {0}
    assert any("coordinates of nodes are pixels" in note for note in made.notes)
    pixels = bring(changed(tmp_path, 'coordinatesType="geographical"', 'coordinatesType="pixel"', TINY_XML), None)
    assert any("coordinates of nodes are pixels" in note for note in pixels.notes)
    missing = bring(changed(tmp_path, "( 11.00 50.00 )", ""), None)
    assert any("coordinates of nodes are missing" in note for note in missing.notes)


def test_a_unit_too_small_for_gbps_is_scaled_and_said(tmp_path):
    made = bring(changed(tmp_path, "MBITPERSEC", "BITSPERSEC"), None)
    assert "1 bit/s stands as 0.001 Gb/s" in topology(made)["description"]
    assert topology(made)["demands"]["D3"]["gbps"] == 0.25
    unknown = bring(changed(tmp_path, "MBITPERSEC", "STM-1"), None)
    assert "1 unit of the file (STM-1) stands as 1 Gb/s" in topology(unknown)["description"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("?SNDlib native format; type: network", "?SNDlib native format; type: solution", "of type solution"),
        ("?SNDlib", "!SNDlib", "is no native file of SNDlib"),
        ("L-2 (", "L-1 (", "link L-1 stands there twice"),
        ('L-1 ( a:1 "b" )', "L-1 ( a:1 z )", "link L-1 ends at z, which is no node"),
        ("D3 ( c,{} a:1 )", "D3 ( c,{} z )", "demand D3 ends at z, which is no node"),
        ("1 250.00", "1 many", "txt:28: a figure was expected, found `many`"),
        ("1000.00 100.00 4000.00 250.00", "1000.00 100.00 4000.00", "a cost for each capacity was expected"),
        ("1000.00 100.00", "1000.00 -100.00", "link L-1 has a figure that is negative"),
        ("1 250.00", "1 250e300", "a figure was expected, found `250e300`"),
        ("1 250.00", "1 -250.00", "demand D3 asks for -250"),
        ("1000.00 100.00", "0.00 100.00", "link L-1 has a module without capacity"),
        ("\nDEMANDS (", "\nREQUESTS (", "there is no demand in it"),
        ("UNLIMITED\n)", "UNLIMITED\n", "section DEMANDS is not closed"),
        ('L-1 ( a:1 "b" )', "L-1 ( a:1 )", "a name or figure was expected, found `)`"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_with_its_place(tmp_path, old, new, why):
    with pytest.raises(UsageError) as refused:
        bring(changed(tmp_path, old, new), None)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("<network ", "<net ", "is no XML"),
        ("http://sndlib.zib.de/network", "http://example.org", "is no network of SNDlib: its root is network"),
        ("<demandValue>250.0</demandValue>", "", "demand D3 has no demandValue"),
        ("<demandValue>250.0</demandValue>", "<demandValue>x</demandValue>", "demand D3: demandValue must be a figure"),
        ("<x>10.0", "<x>1e300", "coordinates/x must be a figure, found 1e300"),
        ('<link id="L-1">', "<link>", "link 1 has no id"),
        ("<network xmlns", "<!DOCTYPE network [<!ENTITY a 'b'>]><network xmlns", "declares a document type"),
    ],
)
def test_xml_that_is_not_whole_is_refused_with_its_place(tmp_path, old, new, why):
    with pytest.raises(UsageError) as refused:
        bring(changed(tmp_path, old, new, TINY_XML), None)
    assert why in str(refused.value)


def test_text_in_latin_1_is_read(tmp_path):
    file = tmp_path / "latin.txt"
    file.write_bytes(TINY.read_text().replace("a:1", "Zürich").encode("latin-1"))
    assert read(file).nodes[0].id == "Zürich"


def test_options_go_with_their_format():
    with pytest.raises(UsageError, match="--equipment goes with `dcplan import gnpy`, not with sndlib"):
        import_("sndlib", str(TINY), equipment=TINY)
    with pytest.raises(UsageError, match="--model goes with `dcplan import sndlib`, not with gnpy"):
        import_("gnpy", str(TINY), model="U-U-M-N-C-A-N-U")
    with pytest.raises(UsageError, match="there is no format `snd`: did you mean `sndlib`"):
        import_("snd", str(TINY))


@pytest.mark.parametrize("letters", ["M-N-C-A-N-N", "M-Y-C-A-N-N", "E-N-C-A-N-N", "M-N-C-A-N-U", "E-Y-C-A-N-U"])
def test_the_tiny_instance_is_planned_to_its_optimum(tmp_path, letters):
    """Equal to brute force over all numbers of modules, each link and cut written out by hand."""
    file = tmp_path / "tiny.yaml"
    file.write_text(bring(TINY, f"U-U-{letters}").text)
    assert plan(load(file)).design.cost_usd == pytest.approx(_cheapest(letters))


def _cheapest(letters):
    """1.5 between a and b, 0.25 between a and c; on three nodes what each must send suffices."""
    most = 1 if letters[0] == "E" else 3
    options = []
    for existing, small, large in ((0, 100, 250), (0.5, 120, 300), (0, 90, 260)):
        counts = [(n, m) for n in range(most + 1) for m in range(most + 1) if letters[0] == "M" or n + m < 2]
        setup = 30 if letters[2] == "Y" else 0
        options.append([(n * small + m * large + setup * (n + m > 0), existing + n + 4 * m) for n, m in counts])

    def carries(ab, bc, ac):
        return ab + ac >= 1.75 and ab + bc >= 1.5 and bc + ac >= 0.25

    best = float("inf")
    for (p, ab), (q, bc), (r, ac) in product(*options):
        lost = [(0, bc, ac), (ab, 0, ac), (ab, bc, 0)] if letters[-1] == "U" else []
        if all(carries(*state) for state in [(ab, bc, ac), *lost]):
            best = min(best, p + q + r + 2000 * _least_on_ac(ab, bc, ac))
    return best


def _least_on_ac(ab, bc, ac):
    """Of the healthy traffic, in steps of 1/8: x of the 1.5 go over c, y of the 0.25 over b."""
    steps = [(x / 8, y / 8) for x in range(13) for y in range(3)]
    return min(x + 0.25 - y for x, y in steps if 1.5 - x + y <= ab and x + y <= bc and 0 <= x + 0.25 - y <= ac)


@pytest.mark.parametrize("survival", ["N", "U", "P"])
def test_single_paths_are_planned_to_their_optimum(tmp_path, survival):
    """Equal to brute force: each demand by itself, on one of its two ways, in each state; under 1+1 on both."""
    made = bring(TINY, f"U-U-M-N-S-A-N-{survival}")
    assert [(one["gbps"], one["max_paths"]) for one in topology(made)["demands"].values()] == [
        (0.7, 1), (0.8, 1), (0.25, 1)
    ]  # fmt: skip
    assert not any("added up" in note for note in made.notes)
    file = tmp_path / "tiny.yaml"
    file.write_text(made.text)
    assert plan(load(file)).design.cost_usd == pytest.approx(_cheapest_single(survival))


def _cheapest_single(survival):
    """Links ab, bc, ac; 0.7 and 0.8 between a and b, 0.25 between a and c; ways by the links that they take."""
    asked = [(0.7, ({0}, {1, 2})), (0.8, ({0}, {1, 2})), (0.25, ({2}, {0, 1}))]
    if survival == "P":
        asked = [(gbps, (one | other,)) for gbps, (one, other) in asked]
    options = [
        [(n * small + m * large, existing + n + 4 * m) for n, m in product(range(4), repeat=2)]
        for existing, small, large in ((0, 100, 250), (0.5, 120, 300), (0, 90, 260))
    ]

    def carries(capacity):
        return any(
            all(
                sum(gbps for (gbps, _), way in zip(asked, ways, strict=True) if link in way) <= capacity[link] + 1e-9
                for link in range(3)
            )
            for ways in product(*(each for _, each in asked))
        )

    best = float("inf")
    for bought in product(*options):
        usd, capacity = sum(price for price, _ in bought), [gbps for _, gbps in bought]
        if usd < best:
            lost = range(3) if survival == "U" else ()
            states = [capacity, *([0 if i == gone else gbps for i, gbps in enumerate(capacity)] for gone in lost)]
            best = usd if all(map(carries, states)) else best
    return best


def test_polska_is_planned_to_its_known_optimum(tmp_path):
    """35473, proven by several programs, every single link failing."""
    file = tmp_path / "polska.yaml"
    file.write_text(bring(POLSKA, "polska--U-U-M-N-C-A-N-U").text)
    made = plan(load(file))
    assert made.design.proof.status == "optimal"
    assert made.design.cost_usd == pytest.approx(35473)
