import { childVariable } from "./environment.ts";

/**
 * The shell that stands between us and a child. It keeps a control pipe on descriptor 3: when that ends (mg-team is gone, even by
 * `kill -9`), the child's group gets TERM, then KILL, and strays with the child's mark too. When the child ends it leaves `exit.json`,
 * so that a resume can adopt a step that nobody watched, and sends the status up the control pipe, for when the disk is full. POSIX sh: dash, busybox and bash run it in the tests.
 */
export function shimCommand(shim: ShimArguments): string[] {
  const { directory, id, startedAt, program, argv } = shim;
  return [...(shim.shell ?? ["/bin/sh"]), "-c", script, shimName(id), directory, id, startedAt, program, ...argv.slice(1)];
}

/** What the shell calls itself in its own messages: only a failed start of the child prints any. */
export function shimName(id: string): string {
  return `mg-team-start-${id}`;
}

interface ShimArguments {
  /** Absolute; exit.json goes here. */
  readonly directory: string;
  /** The child's mark. */
  readonly id: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Absolute path of the program: never a builtin of the shell. */
  readonly program: string;
  readonly argv: readonly string[];
  /** For tests of other shells. */
  readonly shell?: readonly string[];
}

// --- internal ---

// Signals to the group are for the child: a trapped signal is back at its default in the child, an ignored one would not be.
// `$$` is the group (the shell leads a session) also inside ( ). The group's number cannot be reused while the watcher lives in it.
// `alive`: this shell has ended also when it is a zombie that nobody has reaped yet.
const script = `
trap : HUP INT QUIT ALRM TERM USR1 USR2
directory=$1 id=$2 started=$3
shift 3
exec 4>&2 2>/dev/null
(
  trap '' HUP INT QUIT ALRM TERM USR1 USR2
  exec >/dev/null 4>&-
  PATH=/usr/bin:/bin:$PATH
  while read -r _ <&3; do :; done
  alive() {
    kill -s 0 "$$" || return 1
    stat=
    read -r stat <"/proc/$$/stat"
    case $stat in *") Z "*) return 1 ;; esac
  }
  strays() {
    found=1
    for file in $(grep -lsF "${childVariable}=$id" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -s "$1" "\${pid%/environ}" && found=0
    done
    return $found
  }
  kill -s TERM -- "-$$"
  kill -s CONT -- "-$$"
  if sleep 0.1; then pause=0.1 pauses=50; else pause=1 pauses=5; fi
  while [ "$pauses" -gt 0 ] && alive; do
    sleep "$pause"
    pauses=$((pauses - 1))
  done
  strays TERM && sleep 1
  strays KILL
  kill -s KILL -- "-$$"
) &
(
  trap - HUP INT QUIT ALRM TERM USR1 USR2
  ${childVariable}=$id
  export ${childVariable}
  exec "$@" 2>&4 3>&- 4>&-
)
status=$? code=$? signal=null
trap : PIPE
echo "$status" >&3
exec 3>&- 4>&-
umask 077
PATH=/usr/bin:/bin:$PATH
if [ "$status" -gt 128 ]; then
  name=$(kill -l "$status")
  case $name in [A-Z]*) code=null signal=\\"SIG$name\\" ;; esac
fi
file=$directory/.exit.json
if printf '{"v":1,"code":%s,"signal":%s,"started":"%s","ended":"%s"}\\n' "$code" "$signal" "$started" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$file"; then
  sync "$file"
  mv -f "$file" "$directory/exit.json"
else
  rm -f "$file"
fi
exit "$status"
`;
