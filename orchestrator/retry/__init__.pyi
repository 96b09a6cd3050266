from .policy import RetryDecision as RetryDecision
from .policy import RetryPolicy as RetryPolicy
from .policy import best_attempt as best_attempt
from .policy import decide as decide
from .retry_rules import AskHumanRule as AskHumanRule
from .retry_rules import EscalateRule as EscalateRule
from .retry_rules import FeedbackRule as FeedbackRule
from .retry_rules import ResampleRule as ResampleRule
