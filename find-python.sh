#!/bin/sh
# Prints a Python >= 3.12: the newest named one on the path, else one of pyenv's; says what to install when there is none.
# With versions as arguments (3.12 3.11): one of these, the first that is there.
works() { "$1" -c "import sys; sys.exit(not ($wanted))" 2>/dev/null; }

search() {
    for name in $names; do
        path=$(command -v "$name" 2>/dev/null) && works "$path" && { echo "$path"; exit 0; }
    done
    for path in $(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python 2>/dev/null | sort -rV); do
        works "$path" && { echo "$path"; exit 0; }
    done
}

if [ $# -eq 0 ]; then
    wanted="sys.version_info >= (3, 12)" names="python3.14 python3.13 python3.12 python3 python"
    search
    echo "dcplan needs Python 3.12 or newer and found none: install it (apt install python3.12, brew install python@3.13, pyenv install 3.13, or uv python install 3.13) and run make again" >&2
    exit 1
fi
for version in "$@"; do
    wanted="'%d.%d' % sys.version_info[:2] == '$version'" names="python$version python3 python"
    search
done
echo "found no Python $* (GNPy 3 runs on 3.11 and 3.12): install one (apt install python3.12, pyenv install 3.12, or uv python install 3.12)" >&2
exit 1
