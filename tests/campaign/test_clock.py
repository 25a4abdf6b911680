"""The clock of an SQLite file: the machine's uptime, and what happens when that begins again."""

import sys
import time
from pathlib import Path

import pytest

from campaign_contract.campaigns import one
from cutline.campaign import Campaign, Reason
from cutline.campaign.database import clock

WALL = 1_700_000_000.0


class Machine:
    """A machine with a wall clock that anybody may set, and an uptime and a start that nobody can."""

    def __init__(self) -> None:
        self.wall, self.uptime, self.starts = WALL, 5.0, 1

    def start(self) -> None:
        self.starts, self.uptime = self.starts + 1, 5.0

    def go_on(self, seconds: float) -> None:
        self.wall, self.uptime = self.wall + seconds, self.uptime + seconds


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(clock, "_boot", lambda proc: f"start {machine.starts}")
    monkeypatch.setattr(clock, "_uptime", lambda: machine.uptime)
    monkeypatch.setattr(time, "time", lambda: machine.wall)
    return machine


@pytest.fixture
def campaign(machine: Machine, tmp_path: Path) -> Campaign:
    return Campaign.create(tmp_path / "x.db", "c", ["a"], 0.5, "LSA", 1)


def test_a_lease_is_told_in_seconds_since_1970_and_the_wall_clock_is_asked_once(
    machine: Machine, campaign: Campaign
) -> None:
    assert one(campaign, lease=10).expires == WALL + 10
    machine.wall += 3600
    machine.go_on(9.5)
    assert campaign.ask().reason is Reason.ALL_IN_FLIGHT
    machine.wall -= 7200
    machine.go_on(0.5)
    assert one(campaign, lease=10).expires == WALL + 20


def test_after_a_restart_with_a_clock_behind_a_lease_ends_when_its_time_has_passed_once_more(
    machine: Machine, campaign: Campaign
) -> None:
    machine.go_on(1000)
    one(campaign, lease=10)
    machine.wall -= 86400
    machine.start()
    assert campaign.status().in_flight == 1
    assert campaign.ask().reason is Reason.ALL_IN_FLIGHT
    machine.go_on(9.9)
    assert campaign.ask().reason is Reason.ALL_IN_FLIGHT
    machine.go_on(0.2)
    assert one(campaign, lease=10).expires == WALL + 1020.1


def test_after_a_restart_the_time_that_the_machine_was_off_counts(machine: Machine, campaign: Campaign) -> None:
    one(campaign, lease=10)
    machine.wall += 3600
    machine.start()
    assert campaign.status().in_flight == 0
    assert one(campaign, lease=10).expires == WALL + 3610


def test_an_uptime_that_goes_back_as_in_a_restored_machine_does_not_hold_a_lease_for_longer(
    machine: Machine, campaign: Campaign
) -> None:
    machine.go_on(5000)
    one(campaign, lease=10)
    machine.uptime -= 4000
    machine.go_on(10)
    assert one(campaign, lease=10).expires == WALL + 5020


def test_processes_that_read_the_uptime_a_little_apart_do_not_ask_the_wall_clock(
    machine: Machine, campaign: Campaign
) -> None:
    machine.go_on(100)
    one(campaign, lease=10)
    machine.wall += 3600
    machine.uptime -= 0.1
    assert campaign.status().in_flight == 1
    assert campaign.ask().reason is Reason.ALL_IN_FLIGHT
    machine.go_on(9.9)
    assert campaign.ask().reason is Reason.ALL_IN_FLIGHT


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no file says what the uptime is")
def test_a_clock_that_somebody_has_shifted_for_one_process_tells_the_uptime_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "uptime").write_text("1234.56 99.00\n")
    monkeypatch.setattr(clock, "_PROC", tmp_path)
    assert 1234.5 <= clock._uptime() < 1234.56 + 60
    assert abs(clock._before_ticks(Path("/proc"))) < 60


def test_what_is_written_down_has_the_time_of_the_leases(campaign: Campaign, machine: Machine) -> None:
    pull = one(campaign)
    machine.go_on(60)
    machine.wall += 1000  # somebody sets it
    campaign.tell(pull, 1)
    machine.go_on(60)
    campaign.correct(pull, 0)
    (told,) = campaign.arm("a").pulls
    assert [answer.time for answer in told.answers] == [WALL + 60, WALL + 120]
    campaign.close()
