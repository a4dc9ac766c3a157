/**
 * What the guardian runs, in POSIX sh so that it costs little and needs no installed program.
 * A line `+<group>` adds a process group, `-<group>` takes it off; at the end of its input, which
 * comes when the host and every child about to register are gone, it kills the groups left over.
 * A partial last line fails `read` and is not seen. Groups 0 and 1 would mean "ours" and "all".
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
for group in $groups; do kill -9 "-$group"; done
`

/**
 * What a child runs before it becomes the program: it registers itself, so that there is no moment
 * in which it lives and the guardian does not know, and closes the descriptor. The command comes
 * in as \`"$@"\` alone and is never shell text. A failed registration ends the child.
 */
export const REGISTER_SCRIPT = 'echo "+$$" >&3 && exec 3>&- && exec "$@"'
