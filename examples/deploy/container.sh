#!/bin/sh
# `skillet` of the image. Containers may share /var/lib/skillet: `start` takes the first of data, data-2, data-3, … that no
# other container holds. The lock ends with the process. Other commands use the directory of the bot in their container.
set -eu
umask 077
chosen=/tmp/skillet-data
SKILLET_DATA_DIR=/var/lib/skillet/data
if [ "${1-}" = start ]; then
  number=1
  exec 9>>"$SKILLET_DATA_DIR.lock"
  until flock --nonblock --conflict-exit-code 75 9; do
    [ $? -eq 75 ] || exit 1
    number=$((number + 1))
    SKILLET_DATA_DIR=/var/lib/skillet/data-$number
    exec 9>>"$SKILLET_DATA_DIR.lock"
  done
  echo "$SKILLET_DATA_DIR" >"$chosen"
elif [ -e "$chosen" ]; then
  SKILLET_DATA_DIR=$(cat "$chosen")
fi
export SKILLET_DATA_DIR
# The options are those of bin/skillet.js.
exec node --max-semi-space-size=4 --expose-gc /opt/skillet/bin/skillet.js "$@"
