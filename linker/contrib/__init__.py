"""Papers built on linker: readers, model parts, schedules, recipes. The core never imports them."""
