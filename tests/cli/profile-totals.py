#!/usr/bin/env python3
"""The share of samples whose stacks have a function, in per cent, of a profile as other programs get
it.

Usage: profile-totals.py FORMAT FILE NAME      (FORMAT: folded, pprof, speedscope, firefox or page)
"""

import gzip
import json
import re
import sys


def fields(data):
    """The fields of a protobuf message: number and value, an integer or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            at += value
            value = data[at - value:at]
        yield key >> 3, value


def packed(data):
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    return numbers


def pprof(path):
    with gzip.open(path) as file:
        top = list(fields(file.read()))
    texts = [value.decode() for number, value in top if number == 6]
    functions = {f[1]: texts[f[2]] for f in (dict(fields(v)) for n, v in top if n == 5)}
    locations = {}
    for number, value in top:
        if number == 4:
            lines = [dict(fields(v)) for n, v in fields(value) if n == 4]
            locations[dict(fields(value))[1]] = [functions[line[1]] for line in lines]
    for number, value in top:
        if number == 2:
            sample = dict(fields(value))
            yield [name for at in packed(sample[1]) for name in locations[at]], packed(sample[2])[0]


def folded(path):
    with open(path) as file:
        for line in file:
            stack, count = line.rsplit(" ", 1)
            yield stack.split(";"), int(count)


def speedscope(path):
    with open(path) as file:
        document = json.load(file)
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    profile = document["profiles"][0]
    for stack, weight in zip(profile["samples"], profile["weights"]):
        yield [frames[i] for i in stack], weight


def climb(at, parents, name_of):
    while at is not None and at >= 0:
        yield name_of(at)
        at = parents[at]


def firefox(path):
    with open(path) as file:
        document = json.load(file)
    for t in document["threads"]:
        stacks, samples = t["stackTable"], t["samples"]

        def name_of(stack):
            function = t["frameTable"]["func"][stacks["frame"][stack]]
            return t["stringArray"][t["funcTable"]["name"][function]]

        for stack, weight in zip(samples["stack"], samples["weight"]):
            if weight:
                yield list(climb(stack, stacks["prefix"], name_of)), weight


def page(path):
    with open(path) as file:
        text = re.search(r'id="tare-document">(.*?)</script>', file.read(), re.S).group(1)
    tree = json.loads(text)["sections"][0]["tree"]
    for node, weight in enumerate(tree["self"]):
        if weight:
            yield list(climb(node, tree["parent"], lambda at: tree["names"][tree["name"][at]])), weight


def main():
    kind, path, name = sys.argv[1:]
    found = total = 0
    for stack, count in {"folded": folded, "pprof": pprof, "speedscope": speedscope, "firefox": firefox,
                         "page": page}[kind](path):
        total += count
        found += count if name in stack else 0
    print(round(100 * found / total, 2))


main()
