"""What a catalog entry is: one frozen model per kind. A user's own parts in a topology file are the same models."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Confidence = Literal["high", "medium", "low"]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


def _rising(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    for (before, _), (x, _) in pairwise(points):
        if x <= before:
            raise ValueError(f"points must rise, {x:g} follows {before:g}")
    return points


def _penalties(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    for x, y in points:
        if x < 0 or y < 0:
            raise ValueError(f"an impairment and its penalty are not negative, found [{x:g}, {y:g}]")
    return points


Table = Annotated[tuple[tuple[Finite, Finite], ...], AfterValidator(_rising)]
"""Points (x, y) with x rising; linear between them."""
Penalties = Annotated[Table, AfterValidator(_penalties)]
"""(impairment, penalty [dB]), x rising, none negative; infinite beyond the last point."""


class Strict(BaseModel):
    """Frozen, no unknown keys, docstrings below fields become the JSON Schema's descriptions."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, defer_build=True)


class Part(Strict):
    """Anything in the catalog: where its figures come from and how far to trust them."""

    source: str = "user"
    """Where the figures come from: data sheet, standard, paper, program."""
    confidence: Confidence = "high"
    """high: primary source read; medium: secondary source read; low: estimate or from memory, printed with a flag."""
    estimates: tuple[str, ...] = ()
    """Names of fields of this entry that are estimates even where the entry itself is better sourced."""
    note: str = ""
    """Anything a reader of the figures should know."""


class FiberType(Part):
    """A kind of fiber."""

    attenuation_db_per_km: Positive
    """Attenuation at 1550 nm, splices included where the entry says so [dB/km]."""
    dispersion_ps_nm_km: Finite
    """Chromatic dispersion at 1550 nm [ps/(nm km)]."""
    effective_area_um2: Positive | None = None
    """Effective area [µm²]; none for hollow core."""
    nonlinear: bool = True
    """False where the Kerr effect is negligible (hollow core)."""
    pmd_ps_sqrt_km: NotNegative = 0.04
    """PMD coefficient [ps/√km]."""
    group_index: Annotated[float, Field(ge=1.0, le=2.0)]
    """Group index: latency = index / c."""
    splice_db: NotNegative = 0.0
    """Loss of the splice to solid fiber at each end of a span [dB]; 0 for solid fiber."""
    dispersion_slope_ps_nm2_km: Finite = 0.0
    """Rise of the dispersion with the wavelength, from 1550 nm [ps/(nm² km)]."""
    wdl_db_per_km: NotNegative = 0.0
    """Wavelength-dependent loss: what the upper edge of 4.8 THz (C band) loses more than the lower [dB/km]."""

    @model_validator(mode="after")
    def _area_if_nonlinear(self) -> Self:
        if self.nonlinear and self.effective_area_um2 is None:
            raise ValueError("a nonlinear fiber needs effective_area_um2")
        return self


class OsnrCubic(Strict):
    """OSNR behind an amplifier by input power (OpenROADM): a P³ + b P² + c P + d [dB, 0.1 nm], P in dBm per 50 GHz."""

    a: Finite
    """Of P³ [dB/dBm³]."""
    b: Finite
    """Of P² [dB/dBm²]."""
    c: Finite
    """Of P [dB/dBm]."""
    d: Finite
    """Constant [dB]."""
    input_min_dbm: Finite
    """Least input per 50 GHz that the cubic holds for [dBm]; below it the noise figure stays what it is there."""
    input_max_dbm: Finite
    """Largest input per 50 GHz [dBm]; more is attenuated in front of the amplifier."""

    @model_validator(mode="after")
    def _window(self) -> Self:
        if self.input_max_dbm <= self.input_min_dbm:
            raise ValueError("input_max_dbm must lie above input_min_dbm")
        return self


class RamanStage(Strict):
    """Distributed Raman gain in the fiber in front of an amplifier, which together are a hybrid amplifier."""

    gain_db: Positive
    """Gain of the pumped fiber [dB]."""
    nf_db: Finite
    """Effective noise figure, referred to the end of the unpumped fiber; may be negative [dB]."""


class Amplifier(Part):
    """An optical amplifier: gain window, noise figure at the working gain, total output power."""

    gain_min_db: NotNegative
    """Least gain, of all stages together [dB]; a span with less loss is padded."""
    gain_max_db: Positive
    """Largest gain, of all stages together [dB]."""
    nf_db: Table = ()
    """Noise figure at gain: points (gain [dB], NF [dB]), linear between, constant beyond the ends. With `raman`, of
    the stage behind it, at that stage's own gain. Give this or `osnr_cubic`."""
    osnr_cubic: OsnrCubic | None = None
    """OSNR by input power, in place of `nf_db` (OpenROADM)."""
    raman: RamanStage | None = None
    """Pumped fiber in front: a hybrid amplifier, never a booster; used only where `gear.allow` or a span names it."""
    output_max_dbm: Finite
    """Largest total output power of all channels [dBm]."""
    role: Literal["any", "booster", "line", "preamp"] = "any"
    """Where it may stand."""
    band: Literal["any", "c", "super-c", "l"] = "any"
    """The band that it is made for; any: whichever it is used in."""
    pdl_db: NotNegative = 0.0
    """Polarisation-dependent loss; adds in quadrature [dB]."""
    pmd_ps: NotNegative = 0.0
    """Differential group delay; adds in quadrature [ps]."""
    power_w: NotNegative = 0.0
    """Electrical power [W]."""
    price_usd: NotNegative | None = None
    """Price of one amplifier, one direction [US$]."""
    price_source: str | None = None
    """Where the price comes from."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.gain_max_db < self.gain_min_db:
            raise ValueError(f"gain_max_db {self.gain_max_db:g} lies below gain_min_db {self.gain_min_db:g}")
        if bool(self.nf_db) == (self.osnr_cubic is not None):
            raise ValueError("give either nf_db or osnr_cubic")
        if self.raman is not None:
            if not self.nf_db:
                raise ValueError("the stage behind raman needs nf_db")
            if self.role == "booster":
                raise ValueError("raman pumps the span before it, so it cannot be a booster")
            if self.gain_min_db < self.raman.gain_db:
                raise ValueError("gain_min_db counts all stages and cannot lie below raman.gain_db")
        return self


class Unamplified(Strict):
    """What a receiver needs on a link without amplifiers, where light is weak and almost free of noise."""

    rx_min_dbm: Finite
    """Least received power per channel [dBm]."""
    required_osnr_db: Finite
    """OSNR in 0.1 nm at which rx_min_dbm is quoted, that of the transmitter as a rule [dB]."""


class Mode(Strict):
    """One way to run a transponder. All OSNR are in 0.1 nm (12.5 GHz)."""

    rate_gbps: Positive
    """Client rate in each direction [Gb/s]."""
    baud_gbd: Positive
    """Symbol rate [GBd]."""
    width_ghz: Positive
    """Spectrum taken by one channel, a multiple of 12.5 [GHz]."""
    required_osnr_db: Finite | None = None
    """OSNR (strictly: GSNR) in 0.1 nm that the receiver needs [dB]; none: not published, refused in a plan."""
    tx_osnr_db: Finite | None = None
    """OSNR of the transmitter in 0.1 nm [dB]; none: infinite."""
    tx_dbm: Finite = -10.0
    """Transmitted power per channel, before the multiplexer [dBm]; it sets the noise of the booster."""
    rx_min_dbm: Finite | None = None
    """Least received power per channel at which required_osnr_db holds [dBm]."""
    rx_max_dbm: Finite | None = None
    """Largest received power per channel [dBm]; more is attenuated; none: no limit known."""
    cd_penalty: Penalties = ()
    """(dispersion [ps/nm], penalty [dB]): infinite beyond the last point; no points: no limit known."""
    pmd_penalty: Penalties = ()
    """(PMD [ps], penalty [dB]): infinite beyond the last point."""
    pdl_penalty: Penalties = ()
    """(PDL [dB], penalty [dB]): infinite beyond the last point."""
    unamplified: Unamplified | None = None
    """What it needs on a fiber with `amplified: false`; none: not published, and it closes on none."""
    roll_off: Annotated[float, Field(ge=0, le=1)] = 0.15
    """Root-raised-cosine roll-off; only compares symbol rate × (1 + roll-off) with the width."""

    @model_validator(mode="after")
    def _fits_its_width(self) -> Self:
        if self.baud_gbd > self.width_ghz:
            raise ValueError(f"{self.baud_gbd} GBd does not fit a width of {self.width_ghz} GHz")
        if (self.width_ghz / 12.5) % 1 != 0:
            raise ValueError(f"width_ghz {self.width_ghz} is not a multiple of 12.5 GHz")
        if self.rx_min_dbm is not None and self.rx_max_dbm is not None and self.rx_max_dbm <= self.rx_min_dbm:
            raise ValueError(f"rx_max_dbm {self.rx_max_dbm:g} does not lie above rx_min_dbm {self.rx_min_dbm:g}")
        return self


class Transponder(Part):
    """A coherent pluggable or line card: one price, one or more modes."""

    modes: Annotated[dict[str, Mode], Field(min_length=1)]
    """Its modes by name."""
    power_w: NotNegative = 0.0
    """Electrical power of one [W]."""
    price_usd: NotNegative | None = None
    """Price of one; a wavelength needs two [US$]."""
    price_source: str | None = None
    """Where the price comes from."""
    latency_us: NotNegative = 3.0
    """Latency that one pair adds: FEC and DSP at both ends [µs]."""


class Appliance(Part):
    """A long-haul appliance: optics, fabric and often encryption in one box, for fiber without amplifiers."""

    long_haul_ports: Annotated[int, Field(ge=1)]
    """Long-haul ports; each takes a fiber pair of its own."""
    rate_gbps: Positive
    """Rate of one long-haul port in each direction [Gb/s]."""
    reach_km: Positive
    """Longest fiber without amplifiers that the maker states [km]."""
    fabric: str = ""
    """What it extends (InfiniBand HDR, Ethernet); for the reader, nothing is computed from it."""
    encryption: bool = False
    """It encrypts by itself; for the reader, nothing is computed from it."""
    power_w: NotNegative = 0.0
    """Electrical power of one appliance [W]."""
    price_usd: NotNegative | None = None
    """Price of one appliance, of which each port carries its share [US$]."""
    price_source: str | None = None
    """Where the price comes from."""
    latency_us: NotNegative = 3.0
    """Latency that one pair adds [µs]."""


class Equipment(Part):
    """Terminal gear that is counted per lit fiber pair end: multiplexer, ROADM degree."""

    loss_db: NotNegative
    """Insertion loss for added and dropped channels [dB]."""
    express_loss_db: NotNegative | None = None
    """Loss for channels that pass through; none: nothing can pass."""
    add_drop_osnr_db: Finite | None = None
    """OSNR contribution of one add or one drop in 0.1 nm [dB]."""
    express_osnr_db: Finite | None = None
    """OSNR contribution of one pass in 0.1 nm [dB]."""
    express_pdl_db: NotNegative = 0.0
    """Polarisation-dependent loss of one express pass; adds in quadrature [dB]."""
    add_drop_pdl_db: NotNegative = 0.0
    """Polarisation-dependent loss of one add or one drop; adds in quadrature [dB]."""
    pass_pmd_ps: NotNegative = 0.0
    """Differential group delay of one add, drop or express pass; adds in quadrature [ps]."""
    pass_dispersion_ps_nm: NotNegative = 0.0
    """Chromatic dispersion of one add, drop or express pass [ps/nm]."""
    power_w: NotNegative = 0.0
    """Electrical power [W]."""
    price_usd: NotNegative | None = None
    """Price of one [US$]."""
    price_source: str | None = None
    """Where the price comes from."""


class Accelerator(Part):
    """A training accelerator. Peaks are dense (no sparsity)."""

    vendor: str = ""
    """Who makes it; without a calibration of its own, the nearest of its vendor is used."""
    bf16_tflops: Positive | None = None
    """Peak dense bf16 [TFLOP/s]."""
    fp8_tflops: Positive | None = None
    """Peak dense fp8 [TFLOP/s]."""
    fp4_tflops: Positive | None = None
    """Peak dense fp4 (nvfp4, mxfp4) [TFLOP/s]."""
    hbm_gb: Positive
    """Memory [GB]."""
    hbm_tb_per_s: Positive
    """Memory bandwidth [TB/s]."""
    scale_up_domain: Annotated[int, Field(ge=1)]
    """Accelerators joined by the scale-up network (NVLink, ICI, UB)."""
    scale_up_gb_per_s: Positive
    """Scale-up bandwidth of one accelerator, one direction [GB/s]."""
    nic_gbps: Positive
    """Scale-out bandwidth of one accelerator [Gb/s]."""
    host_gb_per_s: Positive | None = None
    """Link of one accelerator to its host, one direction [GB/s]."""
    host_memory_gb_per_s: Positive | None = None
    """Bandwidth of host memory, the part of one accelerator [GB/s]."""
    host_memory_gb: Positive | None = None
    """Host memory, the part of one accelerator [GB]."""
    site_message_us: NotNegative = 0.0
    """Time that a message to another site takes its host, beside bytes and latency, one after another; TPUs reach the
    data center network through the memory of their host [µs]."""
    launch_us: NotNegative = 0.0
    """Time that the host takes to launch one operator of a layer; 0: not known, and nothing waits for it [µs]."""
    fitted_on: tuple[str, ...] = ()
    """Ids of the published runs that site_message_us or launch_us was fitted on."""
    all_in_w: Positive | None = None
    """Power with its share of server, network and cooling [W]."""
    calibration: str | None = None
    """Name of the calibration entry that its step times use; none: the nearest of its vendor, marked extrapolated."""
    year: int | None = None
    """Year of introduction, by which the nearest calibration of a vendor is found."""


class Mla(Strict):
    """Multi-head latent attention (DeepSeek)."""

    q_lora: int
    kv_lora: int
    qk_nope: int
    qk_rope: int
    v: int


Count = Annotated[int, Field(ge=1)]


class ModelShape(Part):
    """The dimensions of a transformer."""

    layers: Count
    """Transformer layers."""
    hidden: Count
    """Hidden size."""
    heads: Count
    """Attention heads."""
    kv_heads: Count | None = None
    """Key and value heads; none: as many as heads."""
    head_dim: Count | None = None
    """Size of a head; none: hidden / heads."""
    ffn: Count
    """Inner size of a dense feed-forward block."""
    vocab: Count
    """Vocabulary."""
    glu: bool
    """Gated feed-forward: three matrices instead of two."""
    tied: bool = False
    """Input and output embedding are one matrix."""
    mla: Mla | None = None
    """Latent attention in place of plain or grouped heads."""
    experts: int | None = None
    """Routed experts in a MoE layer; none: dense model."""
    topk: int | None = None
    """Experts that a token visits."""
    shared_experts: int = 0
    """Experts that every token visits."""
    moe_ffn: int | None = None
    """Inner size of one expert."""
    expert_bias: bool = False
    """Experts add a bias to what they give."""
    dense_layers: int = 0
    """Layers without experts in a MoE model."""
    total_params_b: Positive | None = None
    """Published number of parameters [10^9]; a check, never an input."""


class Calibration(Part):
    """Constants of the step-time model for one accelerator, precision and software year; at most seven numbers."""

    gemm_efficiency: Annotated[float, Field(gt=0, le=1)]
    """Share of the peak that a large matrix product reaches."""
    memory_efficiency: Annotated[float, Field(gt=0, le=1)]
    """Share of the HBM bandwidth that element-wise kernels reach."""
    scale_up_efficiency: Annotated[float, Field(gt=0, le=1)]
    """Share of the scale-up bandwidth that collectives reach."""
    scale_out_efficiency: Annotated[float, Field(gt=0, le=1)]
    """Share of the NIC bandwidth that collectives reach."""
    layer_us: NotNegative = 0.0
    """Fixed time per layer and pass: launches, small kernels [µs]."""
    step_ms: NotNegative = 0.0
    """Fixed time per step: data, logging, clipping [ms]."""
    moe_efficiency: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Further factor on products of routed experts of inner size 2,048; nearer to 1 for larger ones."""
    precision: Literal["bf16", "fp8", "fp4"] = "bf16"
    """Precision of the matrix products."""
    overlap: Literal["all", "inside-site"] = "all"
    """What of the gradient exchange overlaps with the backward pass, in software since 2023; inside-site: the exchange
    across sites begins when all gradients are there, as where XLA scans over layers (MaxText, scan_layers)."""
    software_year: int
    """Year of the software stack that was measured."""
    fitted_on: tuple[str, ...]
    """Ids of the published records it was fitted on; empty: an estimate, and its evidence says so."""
    fitted_constants: tuple[str, ...] = ()
    """Those of the constants above that were fitted on them; the others are estimates or copied, as note says."""
    fitted_accelerators: tuple[str, ...] = ()
    """Catalog ids of the accelerators that those records were measured on."""
    fitted_hidden: tuple[int, int] | None = None
    """Least and largest hidden size among those records."""
    fitted_count: tuple[int, int] | None = None
    """Least and largest number of accelerators among those records."""
