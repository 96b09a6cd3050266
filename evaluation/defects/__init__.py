"""What a run did against what it says: rules on calls, claims and facts."""
