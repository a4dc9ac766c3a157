import { TAG_NAME } from './process-table.ts'

/**
 * The program of the guardian, in POSIX sh, which is small and always installed. A line `+<group>` adds a process group,
 * `-<group>` removes it. Its input ends when the host and every child about to register are gone; then it kills the
 * remaining groups. A partial last line fails `read` and is ignored. Groups 0 and 1 would mean "own" and "all".
 *
 * Then it kills, where there is a /proc, processes that left their group, found by the guardian's id, the first
 * argument, in their environment, as `Sweep` does. `read` drops the NULs between the variables. Between fork and the end
 * of `execve` the environment is empty: a process without one, when it is seen first, makes another search necessary. The
 * script uses only built-in commands, since a server that forks without end leaves no room for another process.
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

read_group() {
  stat=
  IFS= read -r stat <"/proc/$pid/stat"
  group=\${stat##*\\) ? }
  group=\${group#* }
  group=\${group%% *}
}
note_starting() {
  case $seen in *" $pid "*) return ;; esac
  read_group
  case $stat in '' | *') Z '* | *') X '*) return ;; esac
  seen="$seen$pid "
  [ "$group" = 0 ] || clean=0
}
kill_tagged() {
  has_environ=
  while IFS= read -r line || [ -n "$line" ]; do
    has_environ=1
    case $line in *"${TAG_NAME}=$id."*) ;; *) continue ;; esac
    read_group
    case $group in '' | *[!0-9]* | 0* | 1) ;; *) kill -9 "-$group" ;; esac
    kill -9 $pid
    clean=0
    return
  done <"/proc/$pid/environ"
  [ -n "$has_environ" ] || note_starting
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
id=$1 clean=0 looks=0 seen=' '
while [ $clean -lt 2 ] && [ $looks -lt 100 ]; do
  clean=$((clean + 1)) looks=$((looks + 1))
  look
done
`

/**
 * The script of a child before it becomes the program: it registers itself, so that it never runs unknown to the
 * guardian, and closes the descriptor. The command is only in \`"$@"\` and never shell text. A failed registration ends
 * the child.
 */
export const REGISTER_SCRIPT = 'echo "+$$" >&3 && exec 3>&- && exec "$@"'
