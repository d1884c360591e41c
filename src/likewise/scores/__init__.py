"""What turns rows into class scores; knows no statements."""
