"""A training job and its parallelism plans in the topology file."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dcplan.catalog.parts import Count, NotNegative, Positive, Strict
from dcplan.model.fields import Name, Percent, Promise
from dcplan.model.outer import LooseSync, OuterSteps, Sync, misplaced
from dcplan.model.reliability import Reliability
from dcplan.model.transport import Transport


class ParallelismPlan(Strict):
    """One way to lay out a job. Sizes multiply: tp x cp x pp x dp = accelerators of the job."""

    tp: Count = 1
    """Tensor parallel size."""
    cp: Count = 1
    """Context parallel size."""
    pp: Count = 1
    """Pipeline stages."""
    ep: Count = 1
    """Expert parallel size; divides dp x cp."""
    dp: Count | None = None
    """Data parallel size; without it, what the others leave."""
    virtual_stages: Count = 1
    """Virtual stages per stage; more than 1 is the interleaved schedule."""
    schedule: Literal["1f1b", "zb-h1", "zb-h2", "zbv", "v-half", "v-min", "dualpipe"] = "1f1b"
    """Pipeline schedule. zb-h1, zb-h2, zbv (Qi et al. 2024) and dualpipe (DeepSeek-V3) fill gaps with weight gradients.
    zb-h2 keeps nearly twice the activations, and its stages do not wait for each other's optimizer step; zbv folds two
    pieces of the model onto a stage, and so do v-half and v-min (Qi et al. 2024, Controllable Memory), which keep about
    a half and a third of the activations and wait more (a search takes them where they are pinned); dualpipe keeps
    weights twice and hides expert exchange behind compute."""
    expert_overlap: bool = False
    """Expert exchange of one microbatch runs behind the compute of another, in an interleaved schedule or without
    pipeline (Megatron-LM, DeepEP); dualpipe does so by itself."""
    token_dispatcher: Literal["alltoall", "flex"] | None = None
    """How tokens go to experts in another scale-up domain (Megatron-LM, --moe-token-dispatcher-type): alltoall sends a
    copy for each expert there; flex (DeepEP, HybridEP) one for all of them. Without it, what the software that the
    accelerator was calibrated with had last."""
    microbatch: Count = 1
    """Sequences in a microbatch."""
    sharding: Literal[0, 1, 2, 3] = 1
    """What the data parallel ranks shard: 0 nothing, 1 optimizer (ZeRO-1), 2 and gradients, 3 and weights (FSDP)."""
    shard_size: Count | None = None
    """Ranks over which sharding goes (HSDP); without it, the data parallel ranks of one site."""
    recompute: Literal["none", "selective", "full"] = "selective"
    """Activations recomputed in the backward pass."""
    sequence_parallel: bool = True
    """Sequence parallelism in the tensor parallel group."""
    cp_exchange: Literal["ring", "all-gather"] = "ring"
    """How context parallel ranks get each other's keys and values: round a ring behind the attention core, or all of
    them before it, which nothing hides (Llama 3)."""
    recompute_modules: list[Literal["layernorm", "mla_up_proj", "mlp", "moe_act"]] = []
    """What else `recompute: selective` recomputes (Megatron-LM, --recompute-modules): norms; projections from latent
    vectors to queries, keys and values; feed-forward blocks without experts; the activation function of experts."""
    grad_reduce_in_fp32: bool = True
    """Gradients are added up and reduced inside a site in fp32, else in bf16; between sites see `gradient_bits`."""
    fp8_param_gather: bool = False
    """Weights are kept and gathered in fp8 alone, without a copy in bf16; goes with precision fp8 (Megatron-LM)."""
    exp_avg_dtype: Literal["fp32", "bf16", "fp8"] = "fp32"
    """What both moments of Adam are kept in (Megatron-LM, precision-aware optimizer)."""
    flash_attention: Literal[2, 3] = 3
    """Generation of the kernel of the attention core: 3, FlashAttention-3 and cuDNN from the middle of 2024 on; 2
    before, at two thirds of its rate. Tells where sequences are long."""
    fused_experts: bool = False
    """The activation function of experts is part of the kernel of their first product, so that what lies between is
    neither written nor read (Megatron-Bridge of 2026, fused grouped MLP)."""
    fp8_attention: bool = False
    """The attention core multiplies in fp8 as well, where the job does (Megatron-LM, fp8_dot_product_attention)."""
    cuda_graphs: Literal["none", "router", "layer", "step"] = "none"
    """What is launched at once as a CUDA graph, so that the host is in nobody's way: nothing; the router and the counts
    that prepare the expert exchange; the layer without its experts; or the whole step (Megatron-LM, --cuda-graph-impl
    and --cuda-graph-scope). Counts where microbatches are too small for the host to keep up."""
    optimizer_offload_percent: Percent = 0.0
    """Share of the optimizer state that lies in host memory and is stepped by the processor [%]."""
    across: Literal["dp", "pp", "ep", "cp", "tp"] = "dp"
    """The dimension that crosses sites. Groups of ep, cp or tp exchange in every layer: a plan with one of these over
    sites can be seen in `dcplan steps`, and is planned for only where it meets its targets."""
    sync: Sync = "hierarchical"
    """How gradients cross sites in each step: synchronous, a flat ring over all ranks; hierarchical, reduce inside,
    exchange across, gather inside. Or sites train by themselves, with `outer`: local-sgd, all parameters every so many
    steps; streaming, by turns and behind compute; parameter-server, without waiting for each other."""
    outer: OuterSteps | None = None
    """How sites exchange what they have learned by themselves; goes with the last three of `sync`."""
    extra_in_flight: Annotated[int, Field(ge=0)] | None = None
    """Extra microbatches in flight before a stage boundary between sites; without it, as many as hide the delay."""

    @model_validator(mode="after")
    def _outer_goes_with_sync(self) -> Self:
        if reason := misplaced(self.sync, self.outer):
            raise ValueError(reason)
        return self


class Targets(Strict):
    """What a job is promised."""

    max_overhead_percent: Positive = 5.0
    """Largest overhead of the step time, healthy, over the same job in one site [%]."""
    max_overhead_percent_under_failure: Positive = 25.0
    """The same in every promised failure that leaves all its sites alive [%]."""


class Job(Strict):
    """A training run over one or more sites."""

    model: Name
    """Catalog id of the model shape."""
    accelerators: Annotated[dict[Name, Count | Annotated[dict[Name, Count], Field(min_length=1)]], Field(min_length=1)]
    """Accelerators per site: a number, or by type where the site has several."""
    sequence_length: Count
    """Tokens in a sequence."""
    global_batch_tokens: Count
    """Tokens in a step of the whole job."""
    precision: Literal["bf16", "fp8", "fp4"] = "bf16"
    """Precision of the matrix products of linear layers; attention core and logits stay in bf16. fp4: nvfp4."""
    attention: Literal["causal", "full"] = "causal"
    """What a token attends to: those before it, or all. MFU counts what is attended to, causal attention half."""
    expert_imbalance: Annotated[float, Field(ge=1, le=100)] = 1.0
    """Tokens that the fullest expert parallel rank gets over the mean, beyond what the calibration was measured with;
    the others wait for it, and its memory must hold them."""
    gradient_bits: Literal[8, 16, 32] = 32
    """Bits of a gradient element on the wire between sites; 32 is Megatron's default."""
    collective: Literal["auto", "optimal", "direct", "ring", "tree", "hub"] = "direct"
    """How more than two sites sum gradients, each for itself first (`sync: hierarchical`, `local-sgd`, `streaming`):
    direct, every two exchange; ring, in the best order; tree; hub, all through the best one; optimal, several trees at
    once, the fastest sum that there is on given rates, and the trees whose network costs least where rates are sized;
    auto, the best of all."""
    split: Literal["equal", "by-speed"] = "equal"
    """How the batch falls on accelerators that are not alike, or over pp the layers: in equal parts, so that the oldest
    set the pace, or by speed, in whole microbatches, or whole layers as far as memory holds them; in equal parts all
    the same where that takes no longer."""
    plans: Literal["auto"] | Annotated[dict[Name, ParallelismPlan], Field(min_length=1)] = "auto"
    """Parallelism plans to compare; auto searches all that fit: every size that divides, every schedule, recompute and
    sharding, every dimension across sites, every way to synchronise."""
    pin: ParallelismPlan | None = None
    """Keys that `plans: auto` keeps to, as a plan has them; the others are searched."""
    use: Name | None = None
    """The plan that the network is sized for; without it, the fastest at its least rate that meets the targets,
    or within 1 % of that the one with the least rate."""
    allow_sync: list[LooseSync] = []
    """Ways to synchronise in which sites train by themselves, local-sgd, streaming or parameter-server, that the
    network may be sized for. A step of theirs teaches less; without this they are shown, with what is known of that,
    and chosen only where `use` names one or `pin` leaves no other."""
    targets: Targets = Targets()
    """What the job is promised."""
    reliability: Reliability | None = None
    """What makes it lose time; with it, goodput is worked out. `{}` takes all defaults."""
    train_tokens: Positive | None = None
    """Tokens of the whole run; with it, its days and accelerator hours are worked out."""
    accelerator_usd_per_h: NotNegative | None = None
    """Price of one accelerator [US$/h]: tokens per US$ in `dcplan steps --objective`; with `train_tokens`, what the
    run costs."""
    transport: Transport | None = None
    """How its bytes travel between sites; without it, every bit that is lit carries payload."""
    survive: list[Promise] | None = None
    """Failures that this job survives, in place of the policy's."""
    scheme: Literal["none", "reroute", "one-plus-one", "relight"] | None = None
    """How this job survives them, in place of the policy's. Where some are under relight, those under `reroute` and
    `one-plus-one` ride on wavelengths only that no failure retunes."""
    max_paths: Count | None = None
    """Most routes at a time between two of its sites, healthy and in each failure; 1: a single path. Under
    one-plus-one so many for each of the two ways. Without it any number. A route is a chain of lightpaths that passes
    no site twice, not even as light."""
