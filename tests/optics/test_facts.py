"""What was read of optics: each fact is in the catalog or in the code, or is left out for a stated reason.

The list is that of the fact sheet collected for dcplan (literature, standards and programs read in November 2026), by
its ids.
"""

from __future__ import annotations

import pytest

from dcplan.catalog.bands import BANDS
from dcplan.catalog.load import shipped
from dcplan.optics.constants import CONSTANTS

PART, NAMED, BAND, OUT = "part", "named", "band", "left out"
FACTS: dict[str, tuple[str, str]] = {
    # spectrum
    "C": (BAND, "c"),
    "superC": (BAND, "super-c"),
    "L": (BAND, "l"),
    "C_gnpy_amp_default": (BAND, "c"),
    "C_openroadm": (OUT, "limits of centre frequencies, 25 GHz narrower than the band in use"),
    "grid_flex": (NAMED, "grid-step"),
    "grid_fixed": (NAMED, "grid-slot"),
    # fibers
    "G652D_typ": (PART, "fibers g652d"),
    "G652D_planning": (PART, "fibers g652d-planning"),
    "G652D_limit": (PART, "fibers g652d-limit"),
    "G652_ULL": (PART, "fibers g652-ull"),
    "G654E": (PART, "fibers g654e"),
    "G655_NZDF": (PART, "fibers g655"),
    "HCF_DNANF_field": (PART, "fibers hollow-core"),
    "HCF_DNANF_record": (PART, "fibers hollow-core-record"),
    # passive losses
    "connector": (NAMED, "connector-loss"),
    "splice": (PART, "fibers g652d-planning"),
    "patch_panel_per_site": (OUT, "low confidence, and inside the losses of mux and roadm, which are maxima"),
    "awg_mux_40ch_100ghz": (PART, "equipment mux"),
    "mux_64ch_75ghz": (OUT, "low confidence, scaled; the 6 dB of the 40 channel mux lie inside its range"),
    "passive_splitter_n": (OUT, "no splitter in any line that is designed"),
    "wss_express": (OUT, "low confidence; the whole pass of a ROADM has a primary source"),
    "roadm_express_gnpy": (PART, "equipment roadm"),
    "roadm_add_drop_gnpy": (PART, "equipment roadm"),
    "macro_bend_repair_margin_per_span": (NAMED, "repair-allowance"),
    # amplifiers
    "gnpy_std_high_gain": (PART, "amplifiers gnpy-high-gain"),
    "gnpy_std_medium_gain": (PART, "amplifiers gnpy-medium-gain"),
    "gnpy_std_low_gain": (PART, "amplifiers gnpy-low-gain"),
    "gnpy_high_power": (PART, "amplifiers gnpy-high-power"),
    "generic_planning_edfa": (PART, "amplifiers generic"),
    "net2plan_ola": (OUT, "a default of a program, no part: one noise figure at every gain"),
    "gnpy_4pumps_raman": (PART, "amplifiers gnpy-hybrid-raman"),
    "gnpy_hybrid_4pumps_lowgain": (PART, "amplifiers gnpy-hybrid-raman"),
    "raman_pump_power_typ": (OUT, "from memory; the laser hazard is in the note of the hybrid"),
    "MW-MW-core-express": (PART, "equipment roadm"),
    "MW-WR-core-add": (PART, "equipment roadm"),
    "MW-WR-core-drop": (PART, "equipment roadm"),
    "MWi-standard": (PART, "amplifiers openroadm-ila"),
    "MWi-low-noise": (PART, "amplifiers openroadm-ila-low-noise"),
    "alibaba_ola_LA_EDFA2": (PART, "amplifiers alibaba-line-25"),
    "alibaba_ola_LA_EDFA3": (PART, "amplifiers alibaba-line-32"),
    "alibaba_olr_BA_EDFA1": (PART, "amplifiers alibaba-booster-25"),
    "alibaba_olr_PA_EDFA1": (PART, "amplifiers alibaba-preamp-34"),
    "alibaba_olr_BA_EDFA2": (PART, "amplifiers alibaba-booster-25b"),
    "alibaba_olr_PA_EDFA2": (PART, "amplifiers alibaba-preamp-25"),
    "alibaba_olr_BA_EDFA3": (PART, "amplifiers alibaba-booster-32"),
    "alibaba_olr_PA_EDFA3": (PART, "amplifiers alibaba-preamp-32"),
    # transponders
    "400ZR": (PART, "transponders 400zr"),
    "400ZR_gnpy": (PART, "transponders openzr+"),
    "OpenZRplus_400G_16QAM": (PART, "transponders openzr+"),
    "OpenZRplus_300G_8QAM": (PART, "transponders openzr+"),
    "OpenZRplus_200G_QPSK": (PART, "transponders openzr+"),
    "OpenZRplus_100G_QPSK": (PART, "transponders openzr+"),
    "800ZR": (PART, "transponders 800zr"),
    "800ZRplus_PCS": (PART, "transponders 800zr+"),
    "800ZRplus_400G_QPSK": (PART, "transponders 800zr+"),
    "1600ZR": (PART, "transponders 1600zr"),
    "Ciena_WL5e": (PART, "transponders ciena-wl5e"),
    "Ciena_WL6e": (PART, "transponders ciena-wl6e"),
    "Ciena_WL6n": (PART, "transponders ciena-wl6n"),
    "Nokia_PSE6s": (PART, "transponders nokia-pse6s"),
    "Infinera_ICE7": (PART, "transponders infinera-ice7"),
    "Infinera_ICE6": (PART, "transponders infinera-ice6"),
    "Infinera_ICE_X_400G": (PART, "transponders infinera-ice-x-400g"),
    "Acacia_CIM8": (PART, "transponders acacia-cim8"),
    "METROHAUL_100G": (OUT, "price and power of a cost model without optics; used as source of prices"),
    "METROHAUL_400G": (OUT, "price and power of a cost model without optics; used as source of prices"),
    "openroadm_6_0_modes": (PART, "transponders openroadm-6"),
    "openroadm_6_0_modes_type2": (OUT, "eight modes that repeat others figure by figure"),
    "smartoptics_modes": (PART, "transponders smartoptics"),
    "reach_tables": (OUT, "reach is computed; the tables are optimistic and of one study"),
    # appliances
    "NVIDIA_MetroX2_TQ8100": (PART, "appliances metrox-2-tq8100"),
    "NVIDIA_MetroX2_TQ8200": (PART, "appliances metrox-2-tq8200"),
    "NVIDIA_MetroX3_XC": (PART, "appliances metrox-3-xc"),
    "NVIDIA_Spectrum_XGS": (OUT, "software of a network card, no optics"),
    "Juniper_PTX_800ZR_test": (OUT, "a measured trial, no part"),
    # latency
    "fiber_smf_per_km": (NAMED, "group-index"),
    "fiber_hcf_per_km": (PART, "fibers hollow-core"),
    "amplifier_site": (NAMED, "amplifier-latency"),
    "dcf_per_km": (OUT, "dispersion-compensating fiber is gone with 10G"),
    "roadm_pass": (NAMED, "node-latency"),
    "coherent_pair_ofec_400g": (NAMED, "transponder-latency"),
    "coherent_pair_cfec_400zr": (PART, "transponders 400zr"),
    "legacy_fec": (OUT, "obsolete gear of 40G lines"),
    "regen_3r_site": (OUT, "obsolete gear; today a regenerator is two pairs of transponders"),
    # placement and margins
    "gnpy_span_split": (NAMED, "span-split"),
    "ila_spacing_km": (NAMED, "span-length"),
    "openroadm_max_span_loss_db": (NAMED, "span-loss"),
    "zr_max_link_loss_db": (OUT, "a rule of thumb of a data sheet; the link budget decides"),
    "ila_hut_limits": (OUT, "rack and power of a hut are not planned"),
    "gnpy_sys_margin_db": (NAMED, "system-margin"),
    "eol_repair_per_span_db": (NAMED, "repair-allowance"),
    "transponder_ageing_db": (NAMED, "ageing"),
    "model_error_db": (OUT, "an accuracy, not an input: part of the system margin"),
}


@pytest.mark.parametrize("fact", FACTS)
def test_each_fact_is_where_it_is_said_to_be_or_left_out_for_a_reason(fact: str) -> None:
    how, where = FACTS[fact]
    if how == PART:
        kind, name = where.split()
        assert name in shipped(kind)
    elif how == NAMED:
        assert where in {constant.name for constant in CONSTANTS}
    elif how == BAND:
        assert where in BANDS
    else:
        assert len(where) > 20


def test_every_shipped_part_of_optics_comes_from_a_fact_or_is_a_part_of_one_for_another_band() -> None:
    known = {where for how, where in FACTS.values() if how == PART}
    for kind in ("fibers", "amplifiers", "transponders", "equipment", "appliances"):
        for name, part in shipped(kind).items():
            if f"{kind} {name}" not in known:
                assert getattr(part, "band", "any") in {"l", "super-c"}, name
                assert part.estimates or part.confidence == "low", name
