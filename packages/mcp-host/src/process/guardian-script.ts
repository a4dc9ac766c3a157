import { TAG_NAME } from './process-table.ts'

/**
 * What the guardian runs, in POSIX sh so that it costs little and needs no installed program.
 * A line `+<group>` adds a process group, `-<group>` takes it off; at the end of its input, which
 * comes when the host and every child about to register are gone, it kills the groups left over.
 * A partial last line fails `read` and is not seen. Groups 0 and 1 would mean "ours" and "all".
 *
 * Then it kills, where there is a /proc, what left its group but has the guardian's id, the first
 * argument, in its environment: in the way of `Sweep`, for the same reasons. `read` drops the NULs
 * between the variables. All of it is built into the shell: a server that forks without end leaves
 * no room for another process.
 */
export const GUARDIAN_SCRIPT = `
trap '' INT TERM HUP
groups=' '
while IFS= read -r line; do
  group=\${line#?}
  case $group in '' | *[!0-9]* | 0* | 1) continue ;; esac
  case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in
          *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;;
        esac ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -9 "-$group"; done

kill_tagged() {
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in *"${TAG_NAME}=$id."*) ;; *) continue ;; esac
    IFS= read -r stat <"/proc/$pid/stat"
    group=\${stat##*\\) ? }
    group=\${group#* }
    group=\${group%% *}
    case $group in '' | *[!0-9]* | 0* | 1) ;; *) kill -9 "-$group" ;; esac
    kill -9 $pid
    clean=0
    return
  done <"/proc/$pid/environ"
}
kill_newer() {
  IFS=' ' read -r _ _ _ _ last </proc/loadavg
  [ "$last" = "$newest" ] && return 1
  pid=$last oldest=$newest newest=$last
  [ $oldest -gt $((last - 64)) ] || oldest=$((last - 64))
  while [ $pid -gt $oldest ]; do
    kill_tagged
    pid=$((pid - 1))
  done
}
look() {
  IFS=' ' read -r _ _ _ _ newest </proc/loadavg
  for folder in /proc/[1-9]*; do
    pid=\${folder#/proc/}
    kill_tagged
  done
  turns=0
  while [ $turns -lt 500 ] && kill_newer; do turns=$((turns + 1)); done
}
id=$1 clean=0 looks=0
while [ $clean -lt 2 ] && [ $looks -lt 100 ]; do
  clean=$((clean + 1)) looks=$((looks + 1))
  look
done
`

/**
 * What a child runs before it becomes the program: it registers itself, so that there is no moment
 * in which it lives and the guardian does not know, and closes the descriptor. The command comes
 * in as \`"$@"\` alone and is never shell text. A failed registration ends the child.
 */
export const REGISTER_SCRIPT = 'echo "+$$" >&3 && exec 3>&- && exec "$@"'
