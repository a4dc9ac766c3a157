#!/bin/sh
# Replaces the containers of services one after another, so that clients and turns go on:
#   deploy/compose/roll.sh upgrade             builds the images, and replaces all services
#   deploy/compose/roll.sh replace SERVICE...  replaces these, after a change in .env
#   deploy/compose/roll.sh rotate              replaces the credentials on the bus
set -eu
cd "$(dirname "$0")/../.."
services='orchestrator llm-worker mcp-supervisor gateway'
# Seconds for a container to become healthy.
patience=120

accounts() {
  docker compose run --rm --no-deps bus-accounts bus-accounts "$@" --out /bus --config /accounts/accounts.conf
  # The engine would not restart a container that it has sent a signal.
  docker compose exec --no-TTY nats sh -c 'kill -HUP 1'
}

is_healthy() { [ "$(docker inspect --format '{{.State.Health.Status}}' "$1")" = healthy ]; }

# Starts one more container of a service, and stops an old one once the new one is healthy.
replace() {
  old=$(docker compose ps --quiet "$1")
  for each in $old; do
    before=$(docker compose ps --quiet "$1")
    more=$(($(echo "$before" | wc -l) + 1))
    docker compose up --detach --no-build --no-recreate --scale "$1=$more" "$1"
    new=$(docker compose ps --quiet "$1" | grep -vxF "$before")
    left=$patience
    until is_healthy "$new"; do
      left=$((left - 1))
      if [ $left -le 0 ]; then
        docker logs --tail 20 "$new" >&2
        docker rm --force "$new" >&2
        echo "the new $1 is not healthy after $patience s and was removed; the containers before it go on" >&2
        exit 1
      fi
      sleep 1
    done
    docker stop "$each"
    docker rm "$each"
  done
}

replace_all() { for service in "$@"; do replace "$service"; done; }

case "${1:-}" in
  upgrade)
    docker compose --profile tools build
    # They are made anew before the first service. If Compose replaced them, it would stop all services meanwhile.
    docker compose rm --force bus-accounts provision
    replace_all $services
    # What else the file has changed.
    docker compose up --detach --no-build
    ;;
  replace)
    shift
    replace_all "$@"
    ;;
  rotate)
    accounts rotate
    replace_all $services
    accounts retire
    ;;
  *)
    sed -n '2,5s/^# //p' "$0" >&2
    exit 2
    ;;
esac
