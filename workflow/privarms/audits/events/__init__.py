"""One module per audit: an event on two neighbouring inputs, and its subjects."""
