#!/usr/bin/env bash
# Replace this with your own restart, such as a request to your deploy system.
set -euo pipefail
service=${1:?write the name of a service}
echo "{\"service\": \"$service\", \"restarted\": true}"
