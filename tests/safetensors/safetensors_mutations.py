"""Makes safetensors files: sound ones, and ones damaged byte by byte, token by token and value by value."""

import json
import re
import struct

BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
        "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32,
        "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}
NUMBERS = ["0", "1", "2", "3", "4", "8", "16", "-1", "-0", "01", "1.0", "1e2", "1E0", "0.5", ".5", "1.", "+1", "1e400",
           "-1e400", "1e-400", "255", "65536", "4294967296", "9223372036854775807", "9223372036854775808",
           "18446744073709551614", "18446744073709551615", "18446744073709551616", "1" * 40, "NaN", "Infinity", "0x10"]
VALUES = ["null", "true", "false", "{}", "[]", '""', '"F32"', "[0,4]", '{"F32":null}', '["F32",[],[0,4]]', '"\\u0000"',
          '"\\ud800"', '"\\ud83d\\ude00"', '"\\udc00\\ud800"', '"\\x41"', '"\\u00g0"', "'a'", "nul", "//", "[1,]"]
BLANKS = [" ", "\n", "\t", "\r", "  ", "\x0b", "\x0c", "\u00a0", "\ufeff", "\x00"]
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+0-9.eE]+|[a-z]+|.', re.S)


def dumps(pairs):
    """JSON of an object given as pairs, so that names may repeat."""
    return "{" + ",".join(json.dumps(k) + ":" + (v if isinstance(v, str) else json.dumps(v)) for k, v in pairs) + "}"


def file_of(header, data):
    return struct.pack("<Q", len(header)) + header + data


def sound(random):
    """(pairs of the header, bytes of data): tensors of every dtype and rank, in any order of the JSON."""
    pairs, at = [], 0
    for i in range(random.choice([0, 1, 1, 2, 3, 5])):
        dtype = random.choice(list(BITS))
        shape = [random.choice([0, 1, 1, 2, 3, 4, 8]) for _ in range(random.choice([0, 1, 1, 2, 3, 6]))]
        count = 1
        for extent in shape:
            count *= extent
        if count * BITS[dtype] % 8:
            shape.append(8 // (BITS[dtype] & -BITS[dtype]))
            count *= shape[-1]
        end = at + count * BITS[dtype] // 8
        name = random.choice(["w", "layer.", "b/", "", "\u00e9", "\U0001f600", "a\"b\\", "x\ny"]) + str(i)
        fields = [("dtype", dtype), ("shape", shape), ("data_offsets", [at, end])]
        if random.random() < 0.3:
            random.shuffle(fields)
        if random.random() < 0.05:
            fields.append(("extra", random.choice([None, 1.5, {"a": [1, {"b": "c"}]}, [[]], "x"])))
        pairs.append((name, dict(fields)))
        at = end
    random.shuffle(pairs)
    if random.random() < 0.4:
        metadata = random.choice([{}, {"format": "pt"}, {"a": "", "\u00fc": "x\n"}, None])
        pairs.insert(random.randint(0, len(pairs)), ("__metadata__", metadata))
    return pairs, bytes(random.randrange(256) for _ in range(at))


def mutate_value(random, pairs, data):
    """One change to what the header means; its JSON stays well formed."""
    pairs = [(k, dict(v) if isinstance(v, dict) else v) for k, v in pairs]
    tensors = [i for i, (k, _) in enumerate(pairs) if k != "__metadata__"]
    kind = random.randrange(9)
    if kind == 0 or not tensors:
        pairs.append(("__metadata__", random.choice([{}, None, [], "x", 1, {"a": 1}, {"a": None}, {"b": "c"}])))
        return pairs, data
    entry = pairs[random.choice(tensors)][1]
    if kind == 1:
        entry["dtype"] = random.choice([*BITS, "f32", "F8_E4M3FN", "I4", "C128", "", "F32 ", None, 1, ["F32"]])
    elif kind == 2:
        where = random.choice(["shape", "data_offsets"])
        numbers = list(entry[where])
        change = random.randrange(4)
        if change == 0 and numbers:
            numbers[random.randrange(len(numbers))] += random.choice([1, -1, 2, 7, 1 << 31, 1 << 62])
        elif change == 1:
            numbers.insert(random.randint(0, len(numbers)), random.choice([0, 1, 2, 1 << 63]))
        elif change == 2 and numbers:
            numbers.pop(random.randrange(len(numbers)))
        else:
            random.shuffle(numbers)
        entry[where] = numbers
    elif kind == 3:
        entry.pop(random.choice(list(entry)))
    elif kind == 4:
        pairs.insert(random.randint(0, len(pairs)), random.choice(pairs))
    elif kind == 5:
        data = random.choice([data[:-1], data + b"x", data[1:], data * 2, b""])
    elif kind == 6:
        # A gap or an overlap, in data of the right length.
        first, by = entry["data_offsets"][0], random.choice([1, 4, -1])
        for i in tensors:
            offsets = pairs[i][1]["data_offsets"]
            pairs[i][1]["data_offsets"] = [n + by * (offsets[0] >= first) for n in offsets]
        data = data + b"gap!"[:by] if by > 0 else data[:by]
    elif kind == 7:
        shape = list(entry["shape"])
        entry["shape"] = random.choice([shape[::-1], [*shape, 1], [1] * random.choice([60, 64, 65]) + shape])
    else:
        entry["extra"] = random.choice([1, None, {"dtype": "F32"}, [1e300, -1, "x"]])
    return pairs, data


def mutate_tokens(random, header):
    """One token removed, doubled, swapped or replaced; the length field follows."""
    tokens = TOKEN.findall(header)
    i = random.randrange(len(tokens))
    kind = random.randrange(8)
    if kind == 0:
        tokens.pop(i)
    elif kind == 1:
        tokens.insert(i, tokens[random.randrange(len(tokens))])
    elif kind == 2:
        j = random.randrange(len(tokens))
        tokens[i], tokens[j] = tokens[j], tokens[i]
    elif kind == 3:
        numbers = [k for k, token in enumerate(tokens) if token.isdigit()] or [i]
        tokens[random.choice(numbers)] = random.choice(NUMBERS).encode()
    elif kind == 4:
        tokens[i] = random.choice(VALUES).encode()
    elif kind == 5:
        blank = random.choice(BLANKS[:5] if random.random() < 0.8 else BLANKS).encode()
        tokens.insert(random.choice([0, len(tokens), i]), blank)
    elif kind == 6:
        strings = [k for k, token in enumerate(tokens) if len(token) > 2 and token[:1] == b'"' and b"\\" not in token]
        if strings:
            k = random.choice(strings)
            text = tokens[k][1:-1].decode()
            at = random.randrange(len(text))
            code = random.choice([ord(text[at]), ord(text[at]), 0, 0xD800, 0x41])
            escaped = "\\u%04x" % code if code < 0x10000 else text[at]
            tokens[k] = ('"' + text[:at] + escaped + text[at + 1:] + '"').encode()
    else:
        depth = random.choice([1, 5, 124, 125, 126, 127, 300])
        tokens[i] = random.choice([b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth])
    return b"".join(tokens)


def mutate_bytes(random, file):
    """Some bytes anywhere, the length field among them, changed, added or taken away."""
    damaged = bytearray(file)
    for _ in range(random.choice([1, 1, 2, 4])):
        at = random.randrange(len(damaged) + 1) if random.random() < 0.9 else random.randrange(min(9, len(damaged) + 1))
        kind = random.randrange(4)
        if kind == 0 or at >= len(damaged):
            damaged.insert(at, random.randrange(256))
        elif kind == 1:
            del damaged[at]
        elif kind == 2:
            damaged[at] ^= 1 << random.randrange(8)
        else:
            damaged[at] = random.choice(b'{}[]",:\\0123456789 \x00\xff')
    return bytes(damaged)


def some_file(random):
    """One file, sound or damaged in one of the three ways."""
    pairs, data = sound(random)
    kind = random.randrange(8)
    if kind in (1, 2, 3):
        pairs, data = mutate_value(random, pairs, data)
    header = dumps(pairs).encode()
    if random.random() < 0.3:
        header = random.choice([b" ", b"\n\t", b""]) + header + b" " * random.randrange(8)
    if kind in (4, 5):
        header = mutate_tokens(random, header)
    file = file_of(header, data)
    return mutate_bytes(random, file) if kind in (6, 7) else file
