"""Programs that the tests run in processes of their own are no modules to import."""

collect_ignore = ["counting.py", "program.py"]
