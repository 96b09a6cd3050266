from .job_queue import JobQueue as JobQueue
from .job_queue import QueueStatus as QueueStatus
from .job_queue import Submission as Submission
from .job_queue import open_queue as open_queue
from .queue_worker import QueueWorker as QueueWorker
