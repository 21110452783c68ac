"""`python -m strandline`: the shell."""

from strandline.doors.cli.app import main

if __name__ == "__main__":
    main()
