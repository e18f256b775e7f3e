"""placeholder"""


def component_text(c):
    return c.name
