"""What holds for a campaign wherever it is kept: importable classes of tests, run on every store.

A test of campaigns belongs to the file of what it is about; it runs on every store from the day it stands there.
"""

from campaign_contract.asking import Asking
from campaign_contract.changing import Changing, ChangingHalfWay
from campaign_contract.clocks import Clocks
from campaign_contract.correcting import Correcting
from campaign_contract.creating import Creating
from campaign_contract.deciding import Deciding
from campaign_contract.importing import ImportingHalfWay
from campaign_contract.joining import Joining
from campaign_contract.knowing import Knowing, SharedWeighed
from campaign_contract.learning import Learning, LearningLater
from campaign_contract.leasing import Leasing
from campaign_contract.observing import Observing
from campaign_contract.opening import Opening
from campaign_contract.paging import Paging
from campaign_contract.processes import Processes
from campaign_contract.progressing import Progressing
from campaign_contract.pulling import Pulling
from campaign_contract.remembering import Remembering
from campaign_contract.requesting import Requesting
from campaign_contract.rosters import Rosters
from campaign_contract.stopping import Stopping
from campaign_contract.telling import Telling
from campaign_contract.under_fire import SharedUnderFire, UnderFire
from campaign_contract.versions import Versions
from campaign_contract.weighed import Weighed
from campaign_contract.weighing import Weighing
from campaign_contract.whole import Whole
from campaign_contract.working import Working


class CampaignContract(
    Asking,
    Requesting,
    Telling,
    Correcting,
    Remembering,
    Progressing,
    Working,
    Leasing,
    Stopping,
    Observing,
    Deciding,
    Paging,
    Weighing,
    Weighed,
    Knowing,
    Learning,
    LearningLater,
    Creating,
    Pulling,
    Changing,
    ChangingHalfWay,
    Rosters,
    Whole,
    UnderFire,
):
    """Subclasses give a fixture ``url``: None, or that of an empty database."""


class SharedCampaignContract(
    Clocks, Opening, ImportingHalfWay, Joining, Processes, SharedWeighed, SharedUnderFire, Versions
):
    """For databases that several processes share. Subclasses give a fixture ``url``: that of an empty database."""
