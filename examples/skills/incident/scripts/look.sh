#!/usr/bin/env bash
# Replace this with your own check, such as a request to your monitoring.
set -euo pipefail
service=${1:?write the name of a service}
echo "{\"service\": \"$service\", \"state\": \"slow\", \"since\": \"12 minutes\"}"
