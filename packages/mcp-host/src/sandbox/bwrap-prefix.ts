import { ORDERLY_SIGNALS } from '../process/guardian-script.ts'

/** The view of the file system within a sandbox. */
interface View {
  readonly hiddenFolders: readonly string[]
  readonly hiddenFiles: readonly string[]
  readonly readOnly: readonly string[]
}

/**
 * The command line that runs the program behind it in namespaces of its own. It sees no other processes, and the whole
 * file system except the hidden paths. The namespaces end with their first process, so no descendant survives.
 *
 * A signal to the process group also reaches the two processes of bwrap, which must not end before the program. They
 * inherit ignored signals; `env` makes the program react to them again.
 */
export function bwrapPrefix(
  bwrap: string,
  { hiddenFolders, hiddenFiles, readOnly }: View,
): readonly string[] {
  return [
    bwrap,
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    // Started by root, bwrap would leave the program the right to unmount.
    ...option('--cap-drop', 'ALL'),
    ...option('--dev-bind', '/', '/'),
    ...option('--proc', '/proc'),
    ...readOnly.flatMap((path) => option('--ro-bind', path, path)),
    ...hiddenFolders.flatMap((path) => [
      ...option('--tmpfs', path),
      ...option('--remount-ro', path),
    ]),
    ...hiddenFiles.flatMap((path) => option('--ro-bind', '/dev/null', path)),
    '--',
    ...option('env', `--default-signal=${ORDERLY_SIGNALS}`),
    // `env` takes a path with "=" for a variable.
    ...option('/bin/sh', '-c', 'exec "$@"', 'sh'),
  ]
}

/** Keeps the words of an option on one line. */
function option(...words: readonly string[]): readonly string[] {
  return words
}
