"""What a notebook shows: the scrubber, charts and reprs. They draw what they are given; nothing below imports them."""
