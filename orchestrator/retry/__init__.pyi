from .policy import AskHumanRule as AskHumanRule
from .policy import EscalateRule as EscalateRule
from .policy import FeedbackRule as FeedbackRule
from .policy import ResampleRule as ResampleRule
from .policy import RetryDecision as RetryDecision
from .policy import RetryPolicy as RetryPolicy
from .policy import decide as decide
