#!/bin/sh
# A docker client whose containers are files in $FAKE_DOCKER: NAME.json, as `docker inspect` shows them. A container outlives its client.
printf '%s\n' "$*" >>"$FAKE_DOCKER/calls"
command=$1
shift
case $command in
  exec)
    echo inside
    trap 'exit 143' TERM
    while :; do sleep 0.05; done
    ;;
  run)
    # As the real one: it pulls first, and fails over a taken name only then.
    if [ -n "$FAKE_DOCKER_PULLS" ]; then
      trap 'exit 143' TERM
      echo pulling
      while :; do sleep 0.05; done
    fi
    name= source= env=
    while [ $# -gt 0 ]; do
      case $1 in
        --name) name=$2 && shift ;;
        --name=*) name=${1#--name=} ;;
        -v) source=${2%%:*} && shift ;;
        -e) env=$2 && shift ;;
      esac
      shift
    done
    name=${name:-unnamed$$}
    printf '{"Id":"%s","Name":"/%s","Created":"%s","Config":{"Labels":null,"Env":["%s"]},"Mounts":[{"Source":"%s"}]}' "$name" "$name" \
      "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)" "$env" "$source" \
      >"$FAKE_DOCKER/$name.json"
    trap 'echo TERM >>"$FAKE_DOCKER/signals"; sleep "${FAKE_DOCKER_STOPS:-0}"; echo stopped >>"$FAKE_DOCKER/signals"; exit 143' TERM
    echo running
    while [ -e "$FAKE_DOCKER/$name.json" ]; do sleep 0.05; done
    ;;
  ps) for file in "$FAKE_DOCKER"/*.json; do [ -e "$file" ] && basename "$file" .json; done ;;
  inspect)
    separator='['
    for id; do printf '%s' "$separator" && cat "$FAKE_DOCKER/$id.json" && separator=,; done
    echo ']'
    ;;
  rm)
    shift
    for id; do rm -f "$FAKE_DOCKER/$id.json"; done
    ;;
esac
