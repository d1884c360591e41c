"""Reports as single HTML files: what they say (`document`), and how it is written (`report`)."""
