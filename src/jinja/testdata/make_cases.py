#!/usr/bin/env python3
"""Writes cases.jsonl: templates and what jinja2, set up as Hugging Face does, makes of them.

Run beside one_line.txt (a template per line) with jinja2 installed:  python3 make_cases.py
The first line of cases.jsonl is the context of all cases; each other line has `template` and `expected`, or `fails`.
"""
import json
import random

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

CONTEXT = {
    "s": "Hello wörld", "n": None, "t": True, "f": False, "i": 7, "z": 0, "neg": -3, "x": 2.5, "e": "", "sp": "  a b\tc \n",
    "l": [3, 1, 2], "le": [], "ls": ["b", "A", "c"], "ll": [[1, 2], [0, 5]], "d": {"b": 1, "a": 2, "C": [1, {"k": "v"}]}, "de": {},
    "u": [{"name": "Zed", "age": 30, "tags": ["x", "y"]}, {"name": "amy", "age": 25}, {"name": "Bob", "age": 30}],
    "nested": {"a": {"b": [10, 20, {"c": "deep"}]}}, "emoji": "a😀b", "ml": "line1\nline2\n\nline4\n", "html": "<b>\"x\" & 'y'</b>",
    "num": "42",
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo", "items": "data", "keys": 3}],
}

# Templates with line ends.
LINES = [
    '  {% if true %}\n  x\n  {% endif %}\ny', '  {%+ if true %}\n  x\n  {%+ endif +%}\ny', 'a\n\n', 'a\n', '\n', '', 'a\r\nb\rc',
    '{% if true %}\n\nx{% endif %}', 'x\n{# c #}\ny', 'x\n  {# c #}  \ny', 'x {% set a = 1 %}\ny', '\t{% set a = 1 %}\ty',
    '{{ 1 }}\n{{ 2 }}\n', '{{ 1 -}}\n\n  {{ 2 }}', '  {{ 1 }}\n  {% raw %}\n a {% endraw %}\n b', '  {%- raw %}\n a\n  {% endraw +%}\n b',
    '{% raw -%}\n a{% endraw %}\n', 'x  \n  {%- if true -%}  \n y \n {%- endif %}\nz', '{#+ c #}\nq', '  {#+ c +#}\nq',
    '  {#- c -#}\n  q', '{% for x in [1,2] -%}\n  {{ x }}\n{%- endfor %}', '{% for x in [1,2] %}\n  {{ x }}\n{% endfor %}\nend',
    'a{%set x=1%}b{{x}}', '{%-set x=1-%}b{{-x-}} c', "{{ '\r\n' }}|{{ 'a\rb'|tojson }}", '\xa0{%- set x=1 -%}\xa0z', '\xa0{% set x=1 %}z',
    '{{\n1\n}}\n{%\nset a\n=\n1\n%}\n{{ a }}', '{{ "line\\\ncont" }}', "{{ 'é' }}{{ '\\é' }}", '{% set été = 5 %}{{ été }}',
    "{{ {'a':{'b':1}} }}", "{{ {'a':{'b':1}}}}", '{{ [{}] }}', '{% if true %}a{% endif -%}\n\n b', "{{ '{% x %}' }}", "{{ 'a' # }}",
    '{{ 1;2 }}', '{{ $ }}', '{{ a ! b }}',
]


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise TemplateError(message)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    return env


class Random:
    """Expressions made at random, most of them meaningful."""

    FILTERS = """upper lower title capitalize trim length list first last reverse|list sort unique|list join(',') int float abs round(1)
        round(1,'floor') string tojson tojson(indent=2) default('D') d('D',true) escape striptags dictsort items|list min max sum batch(2)|list
        slice(2,'f')|list map('upper')|list map(attribute='name')|list map(attribute='age',default=0)|list select|list reject|list
        select('string')|list selectattr('age','defined')|list rejectattr('name','equalto','amy')|list groupby('name')|list
        replace('l','L') indent(2,true) truncate(5,true,leeway=0) wordwrap(7) wordcount center(11) urlencode filesizeformat
        sort(attribute='name')|list max(attribute='age') pprint""".split()
    METHODS = """upper() title() strip() lstrip() split() split(',') rsplit('l',1) splitlines() startswith('H') find('l') count('l')
        replace('l','LL') isdigit() isalpha() islower() items() keys() get('a') get('zz',1) zfill(6) center(9) ljust(8,'.') swapcase()
        partition('l') join(['x','y']) format(1) istitle() append(1) pop()""".split()
    TESTS = """defined none string number integer float boolean mapping sequence iterable odd even lower upper true false""".split()
    LITERALS = ["1", "0", "-1", "2", "2.5", "'a'", "'b,c'", "''", "' x '", "true", "none", "[]", "[1,2]", "{'a':1}", "(1,2)", "'é'", "range(4)"]

    def __init__(self, seed):
        self.random = random.Random(seed)

    def expression(self, depth):
        pick, sub = self.random.choice, lambda: self.expression(depth - 1)
        if depth <= 0:
            return pick([n for n in CONTEXT if n != "messages"] + ["undef"]) if self.random.random() < 0.6 else pick(self.LITERALS)
        return pick([
            lambda: f"({sub()} {pick(['+', '-', '*', '/', '//', '%', '~'])} {sub()})",
            lambda: f"({sub()} {pick(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'])} {sub()})",
            lambda: f"({sub()} {pick(['and', 'or'])} {sub()})",
            lambda: f"({pick(['not ', '-'])}{sub()})",
            lambda: f"({sub()} if {sub()} else {sub()})",
            lambda: f"({sub()}).{pick(self.METHODS)}",
            lambda: f"({sub()})[{sub()}]",
            lambda: f"({pick(['s', 'l', 'ls', 'emoji', 'num'])})[{pick(['', '1', '-2'])}:{pick(['', '2', '-1'])}:{pick(['', '2', '-1'])}]",
            lambda: f"({sub()})|{pick(self.FILTERS)}",
            lambda: f"({sub()})|{pick(self.FILTERS)}",
            lambda: f"({sub()} is {pick(['', 'not '])}{pick(self.TESTS)})",
            lambda: f"[{sub()}, {sub()}]",
        ])()


def case(env, template):
    try:
        return {"template": template, "expected": env.from_string(template).render(**CONTEXT)}
    except Exception:
        return {"template": template, "fails": True}


def main():
    env = environment()
    with open("one_line.txt", encoding="utf-8") as file:
        cases = [case(env, line.rstrip("\n")) for line in file]
    cases += [case(env, template) for template in LINES]
    made = Random(20)
    while len(cases) < 950:
        one = case(env, "{{ " + made.expression(made.random.choice([1, 2, 3])) + " }}")
        if "fails" not in one or made.random.random() < 0.2:
            cases.append(one)
    with open("cases.jsonl", "w", encoding="utf-8") as file:
        for one in [CONTEXT] + [c for c in cases if " at 0x" not in c.get("expected", "")]:
            file.write(json.dumps(one, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
