"""What statements imply: from class scores to values, posteriors, shares and error rates."""
