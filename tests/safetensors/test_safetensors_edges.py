"""Chosen files at the edges of the format: shardwise takes exactly those that the reference implementation takes."""

import pytest
from safetensors_mutations import BITS, file_of
from safetensors_reference import (
    NAMES,
    dtype_is_an_object,
    has_a_rank_over_64,
    has_an_empty_shape_that_overflows,
    has_an_extent_over_int64,
    header_of,
    holds_nul,
    is_stricter_here,
    lists_its_fields,
    reference,
    repeats_a_key,
    same_tensors,
)

ENTRY = '{"dtype":"U8","shape":[4],"data_offsets":[0,4]}'
EMPTY = '{"dtype":"U8","shape":[%s],"data_offsets":[0,0]}'


@pytest.fixture
def same_verdict(verdicts):
    """Fails unless both take, or both refuse, the file with this header and 4 bytes of data; True when both take it."""

    def compare(header):
        file = file_of(header if isinstance(header, bytes) else header.encode(), b"1234")
        theirs, (ours,) = reference(file), verdicts([file])
        assert isinstance(theirs, list) == (ours["code"] == "OK"), (theirs, ours)
        return isinstance(theirs, list)

    return compare


@pytest.mark.parametrize("belongs, header", [
    (repeats_a_key, '{"a":%s,"a":%s}' % (EMPTY % 0, EMPTY % 0)),
    (repeats_a_key, '{"a":%s,"a":%s}' % (ENTRY, ENTRY)),
    (repeats_a_key, '{"__metadata__":{"x":"1","x":"2"}}'),
    (holds_nul, '{"a\\u0000b":%s}' % ENTRY),
    (lists_its_fields, '{"a":["U8",[4],[0,4]]}'),
    (dtype_is_an_object, '{"a":{"dtype":{"U8":null},"shape":[4],"data_offsets":[0,4]}}'),
    (has_a_rank_over_64, '{"a":{"dtype":"U8","shape":[4%s],"data_offsets":[0,4]}}' % (",1" * 64)),
    (has_an_extent_over_int64, '{"a":%s}' % (EMPTY % f"0,{1 << 63}")),
    (has_an_empty_shape_that_overflows, '{"a":%s}' % (EMPTY % "0,9223372036854775807,2")),
    (has_an_empty_shape_that_overflows, '{"a":%s}' % (EMPTY % "9223372036854775807,0,2")),
], ids=lambda value: value.__name__ if callable(value) else "")
def test_each_stricter_class_is_one(belongs, header, verdicts):
    """The reference takes the file, the class recognises it, shardwise refuses it with the words of the class."""
    file = file_of(header.encode(), b"1234" if "[0,4]" in header else b"")
    assert isinstance(reference(file), list)
    (ours,) = verdicts([file])
    assert ours["code"] == "DATA_LOSS" and belongs(header_of(file)) and is_stricter_here(file, ours["message"]), ours


@pytest.mark.parametrize("dtype", [*NAMES, "I4", "U4", "C128", "F128", "F8_E4M3FN", "F8_E3M4", "F8_E4M3B11FNUZ"])
def test_every_dtype(dtype, verdicts):
    size = BITS.get(dtype, 8)
    header = '{"a":{"dtype":"%s","shape":[2,4],"data_offsets":[0,%d]}}' % (dtype, size)
    file = file_of(header.encode(), bytes(range(size)))
    theirs, (ours,) = reference(file), verdicts([file])
    assert isinstance(theirs, list) == (ours["code"] == "OK") == (dtype in NAMES)
    if dtype in NAMES:
        assert same_tensors(file, theirs, ours)
    else:
        assert f"tensor 'a': unknown dtype '{dtype}'" in ours["message"]


@pytest.mark.parametrize("begin, middle, end", [("[", "", "]"), ('{"a":', "1", "}")])
def test_nesting_ends_at_the_same_depth(begin, middle, end, same_verdict):
    header = '{"a":{"extra":%s,"dtype":"U8","shape":[4],"data_offsets":[0,4]}}'
    depths = [*range(1, 4), *range(120, 132), 100_000]
    taken = [same_verdict(header % (begin * depth + middle + end * depth)) for depth in depths]
    assert taken == sorted(taken, reverse=True) and taken[0] and not taken[-1]


@pytest.mark.parametrize("header", [
    ' \n\t\r{"a":%s}', '{"a":%s} \n\t\r', '\ufeff{"a":%s}', '{"a":%s}\x00', '{"a":%s}x', '\x0b{"a":%s}',
    '\u00a0{"a":%s}', '/**/{"a":%s}', '{"a":%s,}', '[{"a":%s}]', '{"a":%s}{"a":%s}', '{"a":%s,"__metadata__":null}',
    '{"a":%s,"__metadata__":{"x":"y","z":"\\u0000"}}', '{"a":%s,"__metadata__":[]}', '{"a":%s,"__metadata__":"x"}',
    '{"a":%s,"__metadata__":{"x":null}}', '{"a":%s,"__metadata__":{"x":1}}',
    '{"a":%s,"__metadata__":{},"__metadata__":{}}',
    '{"a":%s,"__metadata__":null,"__metadata__":{}}', '{"a":%s,"\\u005f_metadata__":{"x":1}}', '{"\\ud83d\\ude00":%s}',
    '{"\\ud83d":%s}', '{"\\ude00":%s}', '{"\x7f":%s}', '{"\x01":%s}', '{"\uffff":%s}', '{"\\/\\b\\f":%s}', '{"\\v":%s}',
    '{"":%s}'])
def test_whole_headers(header, same_verdict):
    same_verdict(header.replace("%s", ENTRY))


@pytest.mark.parametrize("field", ['"dtype":"U8"', '"shape":[4]', '"data_offsets":[0,4]', '"x":1'])
def test_repeated_and_missing_fields(field, same_verdict):
    extra = ENTRY[:-1] + "," + field + "}"
    without = ENTRY.replace(field + ",", "").replace("," + field, "")
    assert same_verdict('{"a":%s}' % extra) == same_verdict('{"a":%s}' % without) == (field == '"x":1')


@pytest.mark.parametrize("value", [
    "1e999", "-1e999", "1e-999", "-0", "1" * 30, "1.", ".5", "+1", "1e", "-", "nul", "tru", "[1,]", "[1 2]",
    '{"a":1,"a":2}', '"\\ud83d"', '"\\ud83d\\u0041"', '"\\ude00"', '"\\x"', '"\\u12g4"', '{"a\\ud83d":1}', '"\x01"',
    '"\\u0000"', "NaN", "-Infinity", "'x'"])
def test_values_of_unknown_keys(value, same_verdict):
    same_verdict('{"a":{"x":%s,"dtype":"U8","shape":[4],"data_offsets":[0,4]}}' % value)


@pytest.mark.parametrize("number", [
    "4", "4.0", "4e0", "40e-1", "-4", "+4", "04", '"4"', "null", "true", "[4]", "4,1", "1,4", "",
    "18446744073709551615", "18446744073709551616", "9223372036854775807,2", "4294967296,4294967296", "-0", "0x4"])
def test_numbers(number, same_verdict):
    same_verdict('{"a":{"dtype":"U8","shape":[%s],"data_offsets":[0,4]}}' % number)
    same_verdict('{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,%s]}}' % number)


@pytest.mark.parametrize("name", [b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe9", b"\xf0\x9f\x98",
                                  b"\x80", b"\xc3\xa9", b"\xf4\x8f\xbf\xbf"])
def test_bytes_of_names(name, same_verdict):
    sound = name in (b"\xc3\xa9", b"\xf4\x8f\xbf\xbf")
    assert same_verdict(b'{"' + name + b'":' + ENTRY.encode() + b"}") == sound


@pytest.mark.parametrize("size", [4, 5, 6])
@pytest.mark.parametrize("shape, begin, end", [
    ([0], 0, 0), ([0], 4, 4), ([0], 2, 2), ([0], 5, 5), ([0], 8, 8), ([1], 0, 1), ([1], 3, 4), ([1], 4, 5), ([1], 5, 6),
    ([], 4, 5), ([2], 4, 6)])
def test_a_second_tensor(shape, begin, end, size, verdicts):
    header = '{"a":%s,"b":{"dtype":"U8","shape":%s,"data_offsets":[%d,%d]}}' % (ENTRY, shape, begin, end)
    file = file_of(header.encode(), b"123456"[:size])
    (ours,) = verdicts([file])
    assert isinstance(reference(file), list) == (ours["code"] == "OK"), ours
