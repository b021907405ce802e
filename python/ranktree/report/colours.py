"""One scale of colours for amounts, from little to much: even steps of lightness, so that it also works without hue.

Computed in Oklab (B. Ottosson, https://bottosson.github.io/posts/oklab): lightness rises evenly while the hue turns
from violet over blue and green to yellow.
"""

import math

STEPS = 256
LIGHTNESS = (0.26, 0.93)
HUE = (-65.0, 105.0)  # degrees; violet at the dark end, over blue, to yellow
CHROMA = 0.13


def scale(steps: int = STEPS) -> list[tuple[int, int, int]]:
    """`steps` colours as (red, green, blue) in 0..255, dark to light."""
    return [colour(step / (steps - 1)) for step in range(steps)]


def colour(amount: float) -> tuple[int, int, int]:
    """The colour of an amount in 0..1."""
    lightness = LIGHTNESS[0] + amount * (LIGHTNESS[1] - LIGHTNESS[0])
    hue = math.radians(HUE[0] - amount * (360 - HUE[1] + HUE[0]))
    chroma = CHROMA
    while not in_gamut(lightness, chroma, hue):
        chroma -= 0.002
    red, green, blue = (round(255 * gamma(value)) for value in linear(lightness, chroma, hue))
    return red, green, blue


def in_gamut(lightness: float, chroma: float, hue: float) -> bool:
    """Whether a screen can show the colour."""
    return all(-1e-9 <= value <= 1 + 1e-9 for value in linear(lightness, chroma, hue))


def linear(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    """Linear sRGB of a colour in Oklab's polar form."""
    a, b = chroma * math.cos(hue), chroma * math.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )


def gamma(value: float) -> float:
    """sRGB's transfer function."""
    value = min(max(value, 0.0), 1.0)
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055


def as_hex(colours: list[tuple[int, int, int]]) -> str:
    """Six digits a colour, one after the other."""
    return "".join(f"{red:02x}{green:02x}{blue:02x}" for red, green, blue in colours)
