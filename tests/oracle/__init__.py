"""What is right, written from its definition: slow, plain, and without code of deadheat."""
