#!/bin/sh
# Runs nats-server for a container engine, and ends it when it cannot store although its disk has room: after a write to
# a full disk, it stores no other until it is restarted. While the disk is full, it still answers reads.
config=$1 folder=$2 monitor=$3

is_well() { wget -q -T 3 -O /dev/null "$monitor/healthz$1"; }
has_room() { [ "$(df -Pk "$folder" | awk 'NR == 2 { print $4 }')" -ge 16384 ]; }

watch() {
  # The recovery of large streams takes minutes.
  until is_well '?js-enabled-only=true'; do sleep 1; done
  failures=0
  while [ $failures -lt 3 ] || ! has_room; do
    sleep 3
    if is_well ''; then failures=0; else failures=$((failures + 1)); fi
  done
  echo 'nats-server cannot store and is restarted' >&2
  kill $$
  sleep 10
  kill -9 $$
}

# The job bus-accounts writes it.
until [ -e "${config%/*}/accounts/accounts.conf" ]; do sleep 0.2; done
watch &
exec nats-server --config "$config"
