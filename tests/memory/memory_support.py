"""What tests of the memory bound share."""


def check_host(report, promised):
    """What is not in an arena. Discarded arrays come and go, so that only the sum can be measured with them."""
    most = min(report["host"]["peak_bytes"], promised)
    measured = report["measured"]
    held = sum(device["peak_bytes"] for device in report["devices"])
    if measured["host_peak_bytes"] is None:
        assert 0 < measured["process_peak_bytes"] <= held + most
    else:
        assert 0 < measured["host_peak_bytes"] <= most
        assert measured["process_peak_bytes"] == measured["host_peak_bytes"] + sum(measured["device_peak_bytes"])
