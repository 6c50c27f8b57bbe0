#!/usr/bin/env bash
set -euo pipefail

if [ $# -lt 1 ]; then
  echo "usage: tides.sh HARBOUR [DAYS]" >&2
  exit 2
fi

curl -fsS --max-time 20 -H "Authorization: Bearer ${TIDEWATCH_API_KEY:?is not set}" \
  "$TIDEWATCH_URL/v1/harbours/$1/tides?days=${2:-1}"
