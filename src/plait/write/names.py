"""Chance to the readable name of a session: two adjectives and the surname of somebody curious."""

from random import Random

ADJECTIVES = """
    able agile airy amber ample apt azure balmy blithe bold brave breezy bright brisk calm candid
    cheery chilly civil clear clever coastal cobalt cosy crimson crisp curious dapper deft dewy
    eager early earnest easy elegant even fair fancy fine fleet fond frank fresh frosty gentle
    glad golden grand green hardy hazel honest humble ivory jolly keen kind lively loyal lucid
    lucky lunar mellow merry mild misty modest neat nimble noble olive patient placid plain polite
    proud quaint quick quiet rosy royal rustic sage scarlet serene sharp silent silver sleek smart
    smooth snug solar solid spry stellar sturdy sunny swift tame tidy tranquil true vivid warm
    wise witty young zesty
""".split()
PARTICIPLES = """
    adding asking baking beaming blending blooming bouncing bubbling building carving charting
    chasing chiming climbing coasting coding counting crafting dancing dashing diving dozing
    drafting drawing dreaming drifting drumming exploring finding fishing floating flowing flying
    folding gathering gazing gliding glowing growing guiding hiking hopping humming inking jesting
    jogging joining juggling jumping kindling laughing leaping learning listening mapping marching
    mending mixing musing nesting noting orbiting painting pacing planting playing pondering
    puzzling racing rambling reading resting rhyming riding ringing roaming rolling rowing sailing
    scouting seeking shining singing sketching skating sliding soaring solving sorting sparking
    spinning splashing stitching strolling surfing swaying swimming swinging tending thinking
    tracing turning wading waltzing wandering watching waving weaving whistling winding wondering
    writing yawning
""".split()
SURNAMES = """
    abel agnesi ampere avicenna babbage banach bell bernoulli bohr bolzano boole born bose boyle
    brahe brouwer cantor carson cauchy cavendish cerf chandra church conway copernicus coulomb
    curie dalton darwin descartes dijkstra dirac earhart easley edison einstein eratosthenes erdos
    euclid euler fano faraday fermat fermi feynman fibonacci fourier franklin frege galilei galois
    gauss germain goedel goodall hamilton hawking heisenberg herschel hertz hilbert hodgkin hopper
    huygens hypatia jacobi johnson joule kepler khayyam kleene knuth kovalevskaya lagrange lamarr
    laplace leavitt leibniz linnaeus lovelace maxwell mccarthy mendel meitner moebius napier nash
    newton nightingale noether ohm pascal pasteur pauli payne peano planck poincare ptolemy
    ramanujan ride riemann sagan shannon somerville tesla turing volta weyl wiles wirth yalow
""".split()


def readable_name(random: Random) -> str:
    """Returns a name such as `quiet-mapping-noether`."""
    return "-".join(random.choice(words) for words in (ADJECTIVES, PARTICIPLES, SURNAMES))
