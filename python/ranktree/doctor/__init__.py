"""What is installed here, what is set up wrongly, and the flag, package or variable that mends it."""
